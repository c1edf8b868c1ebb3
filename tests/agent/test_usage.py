"""What a run took: as the provider says it, None where it does not, and money only where every number is known."""

import pytest

import ethang_nb as eth
from ethang_nb.agent.run import Run
from ethang_nb.agent.spending import Spending
from ethang_nb.context.messages import assistant
from ethang_nb.context.pricing import Rates
from ethang_nb.providers.models.facts import Prices
from ethang_nb.providers.protocol import Reply, Usage
from ethang_nb.testing import WordCounter
from ethang_nb.views import run as run_view
from tests.agent.stage import TASK, Answers, asks, documents, reads
from tests.context.builders import picture

PRICES = Prices(input=2_000_000, output=10_000_000, read=200_000, write=2_500_000)
"""2 USD per million tokens in, 10 out, 0.20 from the cache, 2.50 into it."""


def spent(*usages, prices=PRICES, own=1_000, model="openai/gpt-x?wire=chat", predicted=None):
    spending = Spending()
    for usage in usages:
        reply = Reply(message=assistant("two words"), stop="end", usage=usage)
        spending.add(reply, own, WordCounter(), model=model, prices=prices, predicted=predicted)
    return spending.spent


def test_the_sums_of_what_is_known():
    found = spent(
        Usage(input=1_000, output=50, cached=800, written=100, reasoning=20),
        Usage(input=1_200, output=60, cached=1_000, written=0, reasoning=30),
    )
    assert (2_200, 110, 1_800, 100, 50) == (
        found.input,
        found.output,
        found.cached,
        found.written,
        found.reasoning,
    )
    # 100 + 200 fresh at 2, 800 + 1,000 read at 0.20, 100 written at 2.50, 110 out at 10.
    assert 600 + 360 + 250 + 1_100 == found.cost
    assert ("", 2, 0, 0) == (found.unpriced, found.priced, found.own_input, found.own_output)


def test_what_nobody_reported_is_unknown_and_not_nothing():
    found = spent(Usage(input=1_000, output=50), Usage(input=1_000, output=50))
    assert (None, None, None) == (found.cached, found.written, found.reasoning)
    assert (None, "openai/gpt-x did not report cached tokens of every request") == (
        found.cost,
        found.unpriced,
    )
    assert 0 == spent(Usage(input=1_000, output=50, cached=0, written=0)).cached


def test_a_number_that_one_reply_reports_is_the_sum_of_those_that_did():
    assert 800 == spent(Usage(input=1_000, output=50, cached=800), Usage(input=1_000, output=50)).cached


@pytest.mark.parametrize(
    ("usage", "prices", "why"),
    [
        (Usage(input=9, output=9), None, "no price of openai/gpt-x is known"),
        (Usage(input=9, output=9), Prices(), "no price of openai/gpt-x is known"),
        (Usage(input=9, output=9), Prices(input=1), "no price of the tokens out of openai/gpt-x is known"),
        (Usage(input=9, output=9), Prices(output=1), "no price of the tokens in of openai/gpt-x is known"),
        (None, PRICES, "openai/gpt-x did not report tokens in of every request"),
        (Usage(input=9), PRICES, "openai/gpt-x did not report tokens out of every request"),
        (
            Usage(input=9, output=9, cached=0),
            PRICES,
            "openai/gpt-x did not report tokens written to the cache of",
        ),
    ],
)
def test_a_cost_that_is_unknown_says_which_number_it_lacks(usage, prices, why):
    found = spent(usage, prices=prices)
    assert found.cost is None
    assert found.unpriced.startswith(why)


def test_what_has_no_price_of_its_own_need_not_be_counted():
    plain = Prices(input=1_000_000, output=2_000_000)
    assert 1_000 + 100 == spent(Usage(input=1_000, output=50), prices=plain).cost


def test_our_own_count_stands_in_and_is_counted_as_such():
    found = spent(None, Usage(input=900, output=5), Usage(input=9_000, output=5, cached=8_000))
    assert (1_000 + 900 + 1_000, 6 + 5 + 5) == (found.input, found.output)
    assert (2_000, 6, None) == (found.own_input, found.own_output, found.cached), (
        "the third report is phantom"
    )


def test_of_an_offline_model_our_count_is_the_only_one():
    found = spent(None, model="reader?nudge=ignore")
    assert (1_000, 6, 0, 0) == (found.input, found.output, found.own_input, found.own_output)


def test_where_nothing_came_of_any_request_nobody_knows_what_it_took():
    spending = Spending()
    spending.miss()
    assert (0, 1, None, None, None) == (
        spending.spent.requests,
        spending.spent.unanswered,
        spending.spent.input,
        spending.spent.output,
        spending.spent.cost,
    )
    reply = Reply(message=assistant("two words"), stop="end", usage=Usage(input=9, output=2))
    spending.add(reply, 9, WordCounter(), model="a/b", prices=None)
    assert (1, 1, 9, 2) == (
        spending.spent.requests,
        spending.spent.unanswered,
        spending.spent.input,
        spending.spent.output,
    )


def test_what_the_cache_was_expected_to_hold_stands_beside_what_it_held():
    """In the provider's tokens, and only of requests that it reported the cache of."""
    found = spent(
        Usage(input=2_000, output=1, cached=1_500), Usage(input=2_000, output=1), own=1_000, predicted=900
    )
    assert (1_500, 1_800) == (found.cached, found.predicted)


def test_costs_are_rounded_up_to_the_next_millionth():
    assert 1 == spent(Usage(input=1, output=0, cached=0, written=0), prices=Prices(input=1, output=1)).cost


# ---- in a run


def reply(text, **usage):
    return Reply(message=assistant(text) if isinstance(text, str) else text, stop="end", usage=Usage(**usage))


@pytest.fixture
def priced(tmp_path, monkeypatch, opened):
    """A session of a model whose prices the snapshot knows; its answers are the test's."""
    monkeypatch.setenv("OPENAI_API_KEY", "-".join(["sk", *"test"]))
    documents(tmp_path, 11)

    def make(*answers, model="openai/gpt-4o", **options):
        session = opened(model, **options)
        session.provider = Answers(*answers)
        return session

    return make


def test_a_run_knows_what_it_took(priced):
    session = priced(
        reply("done", input=1_000, output=100, cached=600, written=0, reasoning=40), window=8_000
    )
    run = session.run("Go.")
    assert (1_000, 100, 600, 0, 40) == (run.tokens_in, run.tokens_out, run.cached, run.written, run.reasoning)
    # gpt-4o: 2.50 USD per million in, 1.25 from the cache, 10.00 out.
    assert 400 * 2.5 + 600 * 1.25 + 100 * 10 == run.cost
    assert run_view.figures(run).startswith(
        "1 step, 1,000 tokens in (600 cached), 100 out (40 reasoning), $0.0028"
    )
    (event,) = [event for event in session.recorded if event.kind == "reply"]
    assert {"input": 1_000, "output": 100, "cached": 600, "written": 0, "reasoning": 40} == event.data[
        "usage"
    ]


def test_nothing_is_shown_of_what_nobody_reported(priced):
    run = priced(reply("done", input=1_000, output=100), window=8_000).run("Go.")
    assert run_view.figures(run).startswith("1 step, 1,000 tokens in, 100 out, 0 cleanups")
    assert run.cost is None
    assert "Cost unknown: openai/gpt-4o did not report cached tokens" in run_view.text(run)
    assert "Cache:" not in run_view.text(run)


def test_the_cache_is_predicted_over_a_whole_run(priced):
    answers = [
        reply(asks("list_files"), input=1_000, output=10, cached=0),
        reply(asks("list_files"), input=1_100, output=10, cached=900),
        reply("done", input=1_200, output=10, cached=1_000),
    ]
    session = priced(*answers, window=8_000)
    run = session.run("Go.")
    sent = [event.data["tokens"] for event in session.recorded if event.kind == "request"]
    assert run.usage.predicted == 1_100 * sent[0] // sent[1] + 1_200 * sent[1] // sent[2]
    assert f"Cache: 1,900 tokens read, {run.usage.predicted:,} predicted." in run_view.text(run)


def test_handoff_notes_are_in_the_sums_and_counted_by_themselves(priced):
    note = reply("## Decisions\nnone", input=700, output=50, cached=0, written=0)
    session = priced(
        *[reply(turn, input=500, output=5, cached=0, written=0) for turn in reads(*range(1, 12))],
        reply("done", input=500, output=5, cached=0, written=0),
        window=4_200,
    )
    session.provider._note = note
    run = session.run(TASK)
    assert run.ok, run.error
    notes = run.notes_usage
    assert notes.requests > 0
    assert (700 * notes.requests, 50 * notes.requests) == (notes.input, notes.output)
    assert 750 * notes.requests == run.note_tokens
    assert notes.requests * (700 * 2.5 + 500) == run.note_cost
    assert run.steps * 500 + notes.input == run.tokens_in
    assert run.note_cost < run.cost
    assert f"handoff notes took {run.note_tokens:,} tokens, $" in run_view.text(run)
    events = [event.data for event in session.recorded if event.kind == "note reply"]
    assert notes.requests == len(events)
    assert events[0]["usage"]["input"] == 700


def test_plans_are_priced_with_the_models_own_cache_prices(priced):
    session = priced(*reads(*range(1, 12)), "done", window=4_200)
    assert Rates(read=500, write=1_000, output=4_000) == session.live.rates == session.live.copy().rates
    run = session.run(TASK)
    assert {(500, 1_000)} == {(diff.price.read_per_mille, diff.price.write_per_mille) for diff in run.diffs}
    assert (500, 1_000) == (session.plan(cleanup=True).price.read_per_mille, 1_000)


def test_the_usual_prices_hold_where_the_models_own_are_unknown(opened, tmp_path):
    documents(tmp_path, 11)
    run = opened("reader?nudge=ignore").run("Read every file in docs.")
    assert {(100, 1_250)} == {(diff.price.read_per_mille, diff.price.write_per_mille) for diff in run.diffs}
    assert run.cost is None


def test_a_record_of_three_counts_is_read_as_ever(tmp_path, play):
    """Earlier versions recorded input, output and cached alone, the last one 0 where nobody had said so."""
    session = play({"say": "one"}, settings={"usage": "report"})
    session.run("Go.")
    session.archive.write("reply", {"stop": "end", "usage": {"input": 5, "output": 1, "cached": 0}})
    session.archive.write("usage", {"reported": 5, "own": 6, "cached": 0})
    session.close()
    again = eth.open_session("t", tmp_path)
    assert () == again.drift
    assert picture(again.live.state)
    again.close()


def test_a_run_that_was_not_asked_anything_took_nothing():
    run = Run("t", "Go.", "none")
    assert (0, 0, None, None) == (run.tokens_in, run.tokens_out, run.cost, run.cached)
    assert "0 tokens in, 0 out, 0 cleanups" in run_view.figures(run)
