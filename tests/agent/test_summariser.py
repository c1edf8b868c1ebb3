"""Who writes a handoff note: pinned, else the cheapest configured one that can hold the text, else the own model."""

import pytest

import ethang_nb as eth
from ethang_nb.agent.reach import Reach
from ethang_nb.context.messages import assistant
from ethang_nb.errors import BadWindow, KeyMissing, Misuse, ProviderFault, Unknown
from ethang_nb.providers.models.facts import ModelFacts, Prices
from ethang_nb.providers.protocol import Reply, Usage
from ethang_nb.providers.summariser import Choice, choose
from tests.agent.stage import TASK, Answers, documents, kinds, reads

PINNED, CHEAPEST, OWN = (
    "pinned by the user",
    "the cheapest configured model that can hold the text",
    "the session's own model",
)
WHY = [PINNED, CHEAPEST, OWN]


def facts(total=100_000, *, read=1, output=1, max_input=None, max_output=10_000):
    """`read`, `output`: prices of a token in and out."""
    prices = None if read is None else Prices(input=read, output=output)
    return ModelFacts(total=total, max_output=max_output, source="test", max_input=max_input, prices=prices)


def chosen(*configured, pinned=None, tokens_in=10_000, tokens_out=500):
    return choose(pinned, configured, "own/model", tokens_in=tokens_in, tokens_out=tokens_out)


# ---- the rule


def test_a_pinned_one_is_asked_whatever_else_is_configured():
    assert Choice(model="a/pinned", why=PINNED) == chosen(
        ("b/free", facts(read=0, output=0)), pinned="a/pinned"
    )


def test_without_any_it_is_the_sessions_own():
    assert Choice(model="own/model", why=OWN) == chosen()


def test_input_and_output_price_decide_together():
    """10,000 in and 500 out: 10,000 x 2 + 500 x 10 against 10,000 x 1 + 500 x 40."""
    long = chosen(("a/in", facts(read=2, output=10)), ("b/out", facts(read=1, output=40)))
    assert ("a/in", CHEAPEST) == (long.model, long.why)
    short = chosen(("a/in", facts(read=2, output=10)), ("b/out", facts(read=1, output=40)), tokens_out=100)
    assert "b/out" == short.model


@pytest.mark.parametrize(
    "unfit",
    [
        None,
        facts(read=None),
        ModelFacts(total=100_000, max_output=10_000, source="test", prices=Prices(input=0)),
        facts(total=10_499, read=0),
        facts(max_input=9_999, read=0),
        facts(max_output=499, read=0),
    ],
    ids=["unknown", "no price", "half a price", "window", "max input", "max output"],
)
def test_one_that_cannot_hold_it_or_whose_price_is_unknown_is_not_eligible(unfit):
    assert "b/dear" == chosen(("a/unfit", unfit), ("b/dear", facts(read=900, output=900))).model
    alone = chosen(("a/unfit?wire=chat", unfit))
    assert ("own/model", True) == (alone.model, alone.why.startswith(f"{OWN}; a/unfit was passed over, it"))


def test_one_that_just_holds_it_is():
    assert "a/fits" == chosen(("a/fits", facts(total=10_500, max_input=10_000, max_output=500))).model


def test_of_two_that_cost_the_same_the_first_is_taken():
    assert "a/x" == chosen(("a/x", facts()), ("b/y", facts())).model
    assert "b/y" == chosen(("b/y", facts()), ("a/x", facts())).model


# ---- in a session

KEY = "-".join(["sk", *"test"])
NOTE = "## Decisions\nnone\n## Numbers\ncap 125,000 EUR"


@pytest.fixture
def noting(tmp_path, monkeypatch, opened):
    """Sessions that read eleven documents under a small window; each model that is reached answers with a note."""
    documents(tmp_path, 11)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    made = {}

    def provider(reach, model):
        return made.setdefault(model, Answers("unused", note=NOTE, label=f"{model} (fake)"))

    monkeypatch.setattr(Reach, "provider", provider)

    def make(model="reader", **options):
        session = opened(model, window=3_600, **options)
        session.provider = Answers(*reads(*range(1, 12)), "done", label="own (fake)")
        return session, made

    return make


def authors(run):
    return {diff.note_author for diff in run.diffs} - {""}


def asked(session):
    return {
        (event.data["model"], event.data["why"]) for event in session.recorded if event.kind == "note request"
    }


def test_the_pinned_model_writes_the_note_and_signs_it(noting):
    session, made = noting(summariser="openai/gpt-4o-mini")
    run = session.run(TASK)
    assert run.ok, run.error
    assert {"openai/gpt-4o-mini (fake)"} == authors(run)
    assert {("openai/gpt-4o-mini", PINNED)} == asked(session)
    assert "cap 125,000 EUR" in run.diffs[-1].note
    assert made["openai/gpt-4o-mini"].requests[0].model == "openai/gpt-4o-mini"
    assert not [body for body in session.provider.bodies if b'"tools": []' in body]


def test_the_cheapest_of_the_configured_ones_does_and_its_cost_is_the_notes(noting, monkeypatch):
    session, made = noting(models=["openai/gpt-4o", "openai/gpt-4o-mini"])
    cheap = Reach.provider(session._desk.reach, "openai/gpt-4o-mini")
    usage = Usage(input=1_000, output=100, cached=0)
    cheap._note = Reply(message=assistant(NOTE), stop="end", usage=usage)
    run = session.run(TASK)
    assert run.ok, run.error
    assert {("openai/gpt-4o-mini", CHEAPEST)} == asked(session)
    # gpt-4o-mini: 0.15 USD per million in, 0.60 out.
    assert run.notes_usage.requests * (150 + 60) == run.note_cost
    assert run.cost is None, "what the session's own model takes has no price"
    assert "openai/gpt-4o" not in made


def test_a_configured_model_without_a_key_is_passed_over(noting, monkeypatch):
    session, _ = noting(models=["anthropic/claude-haiku-4-5", "openai/gpt-4o"])
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    run = session.run(TASK)
    assert {"openai/gpt-4o"} == {model for model, _ in asked(session)}
    assert {"openai/gpt-4o (fake)"} == authors(run)


def test_without_any_the_sessions_own_does(noting):
    session, made = noting()
    run = session.run(TASK)
    assert {("reader", OWN)} == asked(session)
    assert {"own (fake)"} == authors(run)
    assert {} == {model: one for model, one in made.items() if one.bodies}


def test_text_that_is_too_long_for_it_goes_through_the_extract(noting, tmp_path):
    """The pinned model's own window decides how much it is sent, not the session's."""
    (tmp_path / "ethang.toml").write_text(
        '[providers.small]\nbase_url = "http://127.0.0.1:9/v1"\n[models."small/one"]\ntotal = 1200\n'
    )
    session, made = noting(summariser="small/one")
    run = session.run(TASK)
    assert run.ok, run.error
    assert {"small/one (fake)"} == authors(run)
    small = made["small/one"]
    sizes = [event.data["tokens"] for event in session.recorded if event.kind == "note request"]
    assert max(sizes) <= session._desk.reach.window(None, "small/one").hard * 1000 // 1_300
    assert len(small.bodies) == len(sizes)


def test_a_summariser_that_fails_leaves_the_note_to_rules_and_says_so(noting):
    session, _ = noting(summariser="openai/gpt-4o-mini")
    Reach.provider(session._desk.reach, "openai/gpt-4o-mini")._note = ProviderFault("503 from the server")
    run = session.run(TASK)
    assert run.ok, run.error
    assert {"rules"} == authors(run)
    assert any("503 from the server" in notice for notice in run.notices)
    assert "note failed" in kinds(session)


def test_it_is_closed_with_the_session(noting):
    session, made = noting(summariser="openai/gpt-4o-mini")
    session.run(TASK)
    own = session.provider
    session.close()
    assert (1, 1) == (made["openai/gpt-4o-mini"].closed, own.closed)


def test_a_session_opened_again_has_the_same_one(noting, tmp_path):
    session, _ = noting(summariser="openai/gpt-4o-mini", models=["openai/gpt-4o"])
    session.run(TASK)
    session.close()
    again = eth.open_session("t", tmp_path)
    given = again._desk.given
    assert ("openai/gpt-4o-mini", ["openai/gpt-4o"]) == (given.summariser, list(given.models))
    assert () == again.drift
    again.close()


# ---- what cannot be


def test_a_summariser_that_cannot_be_asked_is_refused_at_once(opened, monkeypatch, tmp_path):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
        opened(summariser="openai/gpt-4o-mini")
    with pytest.raises(Unknown):
        opened(summariser="opnai/gpt-4o-mini")
    with pytest.raises(Unknown):
        opened(models=["nobody/knows-it"])
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(BadWindow, match="unknown"):
        opened(summariser="openai/nobody-knows-it")
    assert () == eth.sessions(tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"models": "openai/gpt-4o"}, "no list of model ids"),
        ({"models": [1]}, "no list of model ids"),
        ({"summariser": 3}, "give a model id"),
        ({"providers": [1]}, "give a dict of tables by provider"),
        ({"cassette": 3}, "give a name or a path"),
    ],
)
def test_what_is_of_the_wrong_kind_is_one_error(opened, options, said):
    with pytest.raises(Misuse, match=said):
        opened(**options)
