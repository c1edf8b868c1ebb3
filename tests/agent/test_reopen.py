"""A session that is opened again is the same session: the record is all it takes."""

import pytest

import ethang_nb as eth
from ethang_nb.context.address import find_all
from ethang_nb.context.pairing import violations
from ethang_nb.context.policies import POLICIES
from ethang_nb.errors import BadWindow, Misuse, SessionBusy, Unknown
from tests.agent.stage import TASK, WINDOW, call, calls, documents, kinds, script, texts
from tests.context.builders import picture


def shape(session):
    """All that must come back: the planner's state, every text in the window, and what people see."""
    live = session.live
    return {
        "state": picture(live.state),
        "assembled": live.assemble(),
        "entries": {
            row: (entry.messages, entry.addresses, entry.step, entry.sizes)
            for row, entry in live.entries.items()
        },
        "pins": session.pins,
        "timeline": session.timeline,
        "diffs": tuple(session.chronicle.diffs),
        "notices": tuple(session.chronicle.notices),
        "segments": session.segments,
        "budget": session.budget,
        "core": live.core,
    }


def reopened(session, folder, **changes):
    """Closes the session and opens it from its record, which must give the same and add nothing."""
    before, events = shape(session), session.recorded
    session.close()
    again = eth.open_session(session.name, folder, **changes)
    after = shape(again)
    assert again.drift == ()
    assert {key: after[key] for key in before} == before
    assert again.recorded == events
    return again


@pytest.fixture(params=POLICIES)
def policy(request):
    return request.param


def test_a_long_run_comes_back_whole(tmp_path, opened, policy):
    documents(tmp_path, 11)
    session = opened(policy=policy)
    run = session.run(TASK)
    assert run.ok, run.error
    assert session.chronicle.diffs
    again = reopened(session, tmp_path)
    try:
        assert again.run("Tell me the cap once more.").ok
        again = reopened(again, tmp_path)
    finally:
        again.close()


def test_all_acts_of_a_person_come_back(tmp_path, opened, policy):
    """Pins by hand and by rule, unpin, compact, release_context, two pieces of work, other window and policy."""
    documents(tmp_path, 8)
    session = opened(policy=policy)
    session.pin("Amounts are in EUR.")
    lifted = session.pin("We chose supplier B.", "decision")
    assert session.run("Read every file in docs. Never open docs/c_05.txt.").ok
    session.unpin(lifted.id)
    session.pin("Never open docs/c_05.txt.")
    session.compact()
    assert session.run("Find the cap in the record.").ok
    session.change(window=5_000)
    session.change(policy="pressure" if policy == "ethang" else "ethang")
    session.pin("Answer in one line.")
    assert session.run("Read every file in docs and tell me the cap.").ok
    session.change(window=3_000)
    session.compact()
    # Others collapse before a nudge comes, or send none; then the model has nothing to offer.
    assert "release" in kinds(session) or policy not in ("ethang", "pressure")
    again = reopened(session, tmp_path)
    assert again.window.total == 3_000
    again.close()


def test_usage_reports_come_back_with_the_calibration(tmp_path, play):
    """Also a phantom report, which is recorded and changes no limit."""
    session = play(
        calls(call("list_files")),
        {"say": "one", "phantom_usage": 900_000},
        {"say": "two", "phantom_usage": 900},
        settings={"usage": "report"},
    )
    hard = session.live.state.hard
    session.run("Go.")
    assert session.live.state.hard == hard
    session.run("On.")
    assert session.live.state.ratio > 1000
    assert session.live.state.hard < hard
    again = reopened(session, tmp_path)
    assert again.live.state.ratio > 1000
    again.close()


def test_system_project_params_and_tools_come_back(tmp_path, play):
    session = play(
        {"say": "done"},
        system="Be brief.",
        project="Prices are net.",
        tools=["list_files"],
        params={"top_p": 1},
    )
    session.run("Go.")
    sent = session.request(1)
    again = reopened(session, tmp_path)
    again.run("Go.")
    assert sent.partition(b',"messages"')[0] == again.request(2).partition(b',"messages"')[0]
    assert again.toolbox.names == ("list_files", "read_spill")
    assert again.sent[0].text == "Be brief.\n\nPrices are net."
    again.close()


def test_functions_are_given_again_and_the_rest_stays(tmp_path, play):
    def weigh(what: str) -> str:
        """Weigh something."""
        return f"{what} weighs 7 kg"

    session = play(calls(call("weigh", what="it")), {"say": "done"}, tools=[weigh])
    session.run("Go.")
    assert shape(session)["budget"].slice("tools").count == 6
    again = reopened(session, tmp_path, tools=[weigh])
    assert "weigh" in again.toolbox.names
    again.close()
    without = eth.open_session("t", tmp_path)
    assert without.drift == ()
    assert "weigh" not in without.toolbox.names
    assert without.run("On.").ok
    assert reopened(without, tmp_path).drift == ()


def test_a_tool_set_without_search_is_replayed_as_it_was(tmp_path, opened):
    """The note says how to search the record only where there is a tool for it; that must not change later."""
    documents(tmp_path, 11)
    session = opened("reader?nudge=ignore", tools=["read_file", "list_files"])
    assert session.run("Read every file in docs.").ok
    assert "find_in_record" not in session.chronicle.diffs[-1].note
    session.close()
    again = eth.Session("reader", name="t", window=WINDOW, root=tmp_path)
    assert again.drift == ()
    assert "find_in_record" in again.toolbox.names
    again.close()


def test_the_record_under_a_smaller_window_goes_on_from_where_it_was(tmp_path, opened):
    documents(tmp_path, 7)
    session = opened(window=6_000, policy="pressure")
    assert session.run("Read every file in docs.").ok
    timeline, used = session.timeline, session.budget.used
    session.close()
    again = opened(window=3_000, policy="pressure")
    assert again.drift == ()
    assert again.timeline == timeline
    assert again.budget.used == used
    run = again.run("Tell me the cap.")
    assert run.ok, run.error
    assert "cleanup" in [event.data["outcome"] for event in again.recorded if event.kind == "point"]


def test_open_session_names_the_nearest_session(tmp_path, opened):
    opened(name="analysis").close()
    with pytest.raises(Unknown, match="unknown session 'analisys'; did you mean 'analysis'"):
        eth.open_session("analisys", tmp_path)


def test_a_window_too_small_for_the_fixed_parts_leaves_no_trace(tmp_path):
    with pytest.raises(BadWindow, match=r"window 700 leaves 560 usable tokens, .* \(system \d+, tools \d+"):
        eth.Session("reader", name="t", window=700, root=tmp_path)
    assert eth.sessions(tmp_path) == ()


def test_a_change_that_cannot_be_changes_nothing(opened):
    session = opened()
    before, events = picture(session.live.state), len(session.recorded)
    with pytest.raises(BadWindow):
        session.change(window=500)
    with pytest.raises(Unknown, match="did you mean 'pressure'"):
        session.change(policy="presure")
    assert (picture(session.live.state), len(session.recorded)) == (before, events)


def test_settings_do_not_change_under_a_run(play):
    session = play({"say": "slow", "delay": 0.2})
    run = session.start("Go.")
    with pytest.raises(SessionBusy):
        session.change(window=8_000)
    assert run.wait(5).ok


def test_open_session_with_changes_of_an_open_session_says_what_to_do(opened, tmp_path):
    opened()
    with pytest.raises(Misuse, match="close it"):
        eth.open_session("t", tmp_path, window=9_000)


def test_another_model_takes_over_the_context(tmp_path, opened):
    documents(tmp_path, 2)
    opened().run("Read every file in docs.")
    eth.open_session("t", tmp_path).close()
    model = script(tmp_path, {"say": "taken over", "repeat": 20})
    again = eth.open_session("t", tmp_path, model=model)
    assert again.run("And now?").answer == "taken over"
    assert () == violations(again.sent)
    assert "c_02.txt" in "".join(message.text for message in again.sent)
    again.close()


def test_a_session_that_begins_afresh_sets_the_earlier_one_aside_whole(tmp_path):
    """Also what it spilled, what can be searched, and the task that its core holds."""
    long = "\n".join(f"row {number} of the ledger" for number in range(2_000))

    def ledger() -> str:
        """Reads the ledger."""
        return long

    model = script(tmp_path, calls("ledger"), {"say": "read"})
    made = {"name": "s", "window": 8_000, "tools": [ledger], "root": tmp_path}
    first = eth.Session(model, **made)
    first.run("Read the ledger, and keep order 7.")
    before, address = shape(first), find_all(" ".join(texts(first)))[-1]
    with eth.Session(model, **made, fresh=True) as session:
        assert first.closed
        assert () == session.timeline
        assert "Session s." in str(session.run("Read the ledger."))
    with eth.open_session("s~1", tmp_path, tools=[ledger]) as aside:
        assert before == shape(aside)
        page = aside.archive.read(str(address), 1_999, characters=4_000, fits=lambda text: True)
        assert "row 1998 of the ledger" in page.text
        assert aside.archive.find("row 1998", 1)
    with eth.Session(model, **made) as session:
        assert 2 == len(session.timeline)
