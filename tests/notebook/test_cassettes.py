"""--cassette in a notebook: recorded in one kernel, played in another with nothing to ask; --summariser beside it."""

import json

import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook

from ethang_nb.agent.opening import find_open, open_session
from ethang_nb.agent.opening import sessions as eth_sessions
from ethang_nb.agent.session import Session
from ethang_nb.errors import CassetteMiss, RunEnded
from ethang_nb.testing import serve

TASK = "Read contracts/c4.txt and tell me which order is affected and what its cap is."
NOWHERE = "http://127.0.0.1:1/v1"
CELL = f"%%ethang --model lab/reader --window 5000 --cassette demo {{}}\n{TASK}"


@pytest.fixture
def lab(notebook):
    """A notebook that knows a provider `lab`; until `down()` it is a server of the reader."""

    class Lab:
        folder, fails, restart = notebook.folder, notebook.fails, notebook.restart
        server = serve("reader")

        def run(self, source, **more):
            return notebook.run(source, **more)

        def at(self, url):
            notebook.run(f"%config Ethang.providers = {{'lab': {{'base_url': {url!r}}}}}")

        def down(self):
            """The server ends, and a new kernel begins: what is answered from now on comes from the tape."""
            self.server.close()
            self.restart()
            self.at(NOWHERE)

    lab = Lab()
    lab.at(lab.server.base_url)
    yield lab
    lab.server.close()


def sent(name):
    session = find_open(name)
    return [session.request(row.step) for row in session.timeline]


def test_a_cell_that_was_recorded_runs_again_without_the_model(lab, monkeypatch):
    """With a cleanup on the way, whose note the model writes."""
    monkeypatch.setenv("ETHANG_CASSETTE", "record")
    cell = CELL.replace("5000", "2700").replace("contracts/c4.txt", "every file in contracts")
    first = lab.run(cell.format(""))
    requests = sent("audit")
    assert "ORD-47" in first.value.answer
    assert first.value.note_tokens
    lab.down()
    for mode in ("replay", "auto"):
        monkeypatch.setenv("ETHANG_CASSETTE", mode)
        again = lab.run(cell.format("--new"))
        name = again.value.session
        assert requests == sent(name)
        assert str(first.value).replace("Session audit.", f"Session {name}.") == str(again.value)


def test_the_second_run_of_a_cell_in_auto_asks_nothing(lab):
    lab.run(CELL.format(""))
    tape = (lab.folder / "demo.cassette.jsonl").read_bytes()
    lab.down()
    assert lab.run(CELL.format("--new")).value.ok
    assert tape == (lab.folder / "demo.cassette.jsonl").read_bytes()


def test_two_sessions_of_a_notebook_record_on_one_tape(lab, monkeypatch):
    monkeypatch.setenv("ETHANG_CASSETTE", "record")
    cells = [CELL.format("--session a"), CELL.format("--session b").replace("its cap is", "the cap is")]
    said = [str(lab.run(cell).value.answer) for cell in cells]
    lab.down()
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    cells = [cell.replace("--session ", "--session again-") for cell in reversed(cells)]
    assert said == [str(lab.run(cell).value.answer) for cell in cells][::-1]


def test_what_is_recorded_is_dated_by_the_recording_and_held_by_the_real_clock(lab, monkeypatch):
    lab.run(CELL.format(""))
    tape = (lab.folder / "demo.cassette.jsonl").read_text().splitlines()
    tape[0] = tape[0].replace(str(json.loads(tape[0])["at"]), "1700000000")
    (lab.folder / "demo.cassette.jsonl").write_text("\n".join(tape) + "\n")
    lab.down()
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    name = lab.run(CELL.format("--new")).value.session
    session = find_open(name)
    assert {1_700_000_000.0} == {event.at for event in session.recorded}
    assert "held by" not in str(lab.run("%ethang sessions").value)
    heartbeat = session.archive.record._connection.execute("SELECT max(heartbeat) FROM lease").fetchone()[0]
    assert heartbeat > 1_790_000_000


def test_the_tools_do_not_see_the_tape(lab):
    """It comes to be between two requests: a list of the folder would differ when the tape is played."""
    turns = "turns:\n- call: [{name: list_files}]\n- call: [{name: list_files}]\n- say: done\n"
    (lab.folder / "list.yaml").write_text(turns)
    cell = "%%ethang --model lab/lister --window 5000 --cassette demo {}\nLook twice."
    with serve("script:list.yaml", root=lab.folder) as server:
        lab.at(server.base_url)
        assert "done" == lab.run(cell.format("")).value.answer
    assert (lab.folder / "demo.cassette.jsonl").exists()
    lab.down()
    assert "done" == lab.run(cell.format("")).value.answer
    assert 2 == sent("audit")[-1].count(b"say.yaml")
    assert b"demo.cassette" not in sent("audit")[-1]


def test_a_miss_in_replay_shows_how_the_request_differs_and_fails_the_cell(lab, monkeypatch):
    lab.run(CELL.format(""))
    lab.down()
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    missed = CELL.format("--new -o found").replace("its cap", "its date")
    shown = lab.fails(missed)
    run = lab.run("found").value
    assert "provider error" == run.ending
    assert "message 2 (user) differs from the recorded one" in run.error
    assert "and what its cap is." in run.detail
    assert isinstance(shown.error, CassetteMiss)
    assert run.error == str(shown.error)
    assert run.detail == shown.error.diff
    (output,) = shown.outputs
    assert "what its date is." in output.data["text/plain"]
    assert "what its date is." in output.data["text/html"]
    assert "ETHANG_CASSETTE=record" in output.data["text/plain"]
    assert isinstance(lab.fails(missed.replace("its date", "the date") + ";").error, CassetteMiss)
    assert lab.run(CELL.format("--new")).value.ok


def test_a_miss_in_replay_is_a_record_in_python_and_where_a_cell_does_not_wait(lab, monkeypatch):
    lab.run(CELL.format(""))
    lab.down()
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    run = lab.run(CELL.format("--new --detach").replace("its cap", "its date")).value.wait(30)
    assert "provider error" == run.ending
    session = find_open(run.session)
    assert "provider error" == session.run("And what its date is.").ending
    with pytest.raises(RunEnded, match="has no answer to this request"):
        session.run("And what else?").check()


def test_a_miss_ends_the_execution_of_a_notebook_as_ci_runs_it(tmp_path, monkeypatch):
    """In a real kernel, through the client that `jupyter nbconvert --execute` is made of."""
    with serve("reader") as server:
        begin = (
            f"%load_ext ethang_nb\n%config Ethang.providers = {{'lab': {{'base_url': {server.base_url!r}}}}}"
        )
        first = "%%ethang --model lab/reader --window 5000 --cassette demo\nWhat is the cap?"
        for mode, second, fails in (
            ("record", "And the date?", False),
            ("replay", "And the date?", False),
            ("replay", "And the place?", True),
        ):
            monkeypatch.setenv("ETHANG_CASSETTE", mode)
            cells = [begin, first, f"%%ethang\n{second}", "print('after')"]
            document = new_notebook(cells=[new_code_cell(cell) for cell in cells])
            client = NotebookClient(document, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
            if not fails:
                client.execute()
                continue
            with pytest.raises(CellExecutionError) as failed:
                client.execute()
            assert "CassetteMiss" == failed.value.ename
            assert "+And the place?" in str(failed.value)
            kinds = [output.output_type for output in document.cells[2].outputs]
            assert "error" == kinds[-1]
            assert "provider error" in str(document.cells[2].outputs[:-1]).lower()
            assert [] == document.cells[3].outputs


def test_a_setting_is_as_good_as_the_flag(lab):
    lab.run("%config Ethang.cassette = 'tape'")
    lab.run(f"%%ethang --model lab/reader --window 5000\n{TASK}")
    assert (lab.folder / "tape.cassette.jsonl").exists()
    assert "tape" == find_open("audit").given.cassette


def test_another_cassette_and_summariser_open_the_session_anew_and_it_goes_on(lab):
    lab.run(CELL.format(""))
    before = find_open("audit")
    lab.run("%%ethang\nTell me what binds party 34.")
    assert before is find_open("audit")
    lab.run("%%ethang --cassette demo\nTell me what binds party 36.")
    assert before is find_open("audit")
    lab.run("%%ethang --cassette other --summariser reader\nTell me what binds party 38.", fails=False)
    session = find_open("audit")
    assert before is not session
    assert ("other", "reader") == (session.given.cassette, session.given.summariser)
    assert before.timeline == session.timeline[: len(before.timeline)]


def test_a_cassette_that_is_not_there_is_one_line_in_replay_and_nothing_is_recorded(lab, monkeypatch):
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    said = lab.fails(CELL.format("")).line()
    assert said.startswith(
        "CassetteMiss: cassette demo.cassette.jsonl is not there, and in replay nothing else answers"
    )
    assert said.count("\n") == 0
    assert "no session" in lab.run("%ethang sessions").text + str(lab.run("%ethang sessions").value).lower()


def test_without_a_cassette_only_the_stand_ins_work_in_replay(lab, monkeypatch):
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    said = lab.fails(f"%%ethang --model lab/reader --window 5000\n{TASK}").line()
    assert "this session of lab/reader has no cassette; give it one with --cassette NAME" in said
    assert lab.run(f"%%ethang --model reader --window 5000\n{TASK}").value.ok


def test_after_a_cell_that_could_not_begin_its_session_no_stand_in_answers(lab, monkeypatch):
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    lab.fails(CELL.format(""))
    said = lab.fails(f"%%ethang --window 5000\n{TASK}").line()
    assert (
        "Misuse: the cell that was to begin session audit with lab/reader failed (CassetteMiss); run that one first, or"
        " say here which model answers, as in --model reader" == said
    )
    assert "no session" in lab.run("%ethang sessions").text + str(lab.run("%ethang sessions").value).lower()
    monkeypatch.setenv("ETHANG_CASSETTE", "auto")
    assert "lab/reader" == find_open(lab.run(CELL.format("")).value.session).model
    assert lab.run(f"%%ethang\n{TASK}").value.ok


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--cassette ../demo", "PathRefused: cassette '../demo' leads out of the session's folder"),
        ("--cassette", "Misuse: --cassette needs a value; write --cassette NAME"),
        ("--summariser redaer", "Unknown: unknown summariser 'redaer'; did you mean 'reader'?"),
    ],
)
def test_a_wrong_flag_is_one_line(notebook, flags, said):
    assert notebook.fails(f"%%ethang {flags}\n{TASK}").line().startswith(said)


def test_a_wrong_mode_is_one_line(notebook, monkeypatch):
    monkeypatch.setenv("ETHANG_CASSETTE", "replya")
    said = notebook.fails(f"%%ethang --cassette demo\n{TASK}").line()
    assert "Unknown: unknown mode in ETHANG_CASSETTE 'replya'; did you mean 'replay'?" == said


def test_status_says_which_cassette_answers_and_how_and_who_writes_the_notes(lab, monkeypatch):
    lab.run("%config Ethang.models = ['lab/reader', 'reader']")
    lab.run(CELL.format("--summariser reader"))
    said = str(lab.run("%ethang status").value)
    assert ["summariser", "reader"] in [line.split() for line in said.splitlines()]
    assert "lab/reader, reader: the cheapest that can hold the text writes a note" not in said
    lab.run("%%ethang --new --model reader --window 5000\nRead contracts/c4.txt and tell me its cap.")
    assert "lab/reader, reader: the cheapest that can hold the text writes a note" in str(
        lab.run("%ethang status").value
    )
    lab.run("%%ethang --session audit\nTell me what binds party 34.")
    assert "demo.cassette.jsonl, mode auto" in str(lab.run("%ethang status").value)
    lab.down()
    assert "demo\n" in str(lab.run("%ethang status").value)
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    lab.run(CELL.format(""))
    assert "demo.cassette.jsonl, mode replay" in str(lab.run("%ethang status").value)


def test_each_new_kernel_plays_from_the_beginning_and_what_was_is_set_aside_whole(lab, monkeypatch):
    """Three cells as in the README; the second question goes on with the session of the first."""
    cells = [
        CELL.format(""),
        "%%ethang\nTell me what binds party 34.",
        "%%ethang --cassette demo\nAnd party 36?",
    ]

    def run_all():
        lab.restart()
        lab.at(lab.server.base_url if mode == "record" else NOWHERE)
        shown = [lab.run(cell) for cell in cells]
        return [(each.text, str(each.value)) for each in shown], sent("audit")

    came = []
    for mode in ("record", "auto", "auto", "replay"):
        monkeypatch.setenv("ETHANG_CASSETTE", mode)
        came.append(run_all())
        tape = (lab.folder / "demo.cassette.jsonl").read_bytes()
        if mode == "record":
            recorded = tape
            lab.server.close()
        assert recorded == tape
    assert [came[0]] * 4 == came
    names = [row.name for row in eth_sessions()]
    assert ["audit", "audit~1", "audit~2", "audit~3"] == sorted(names)
    with open_session("audit~1", look=True) as before:
        assert came[0][1] == [before.request(row.step) for row in before.timeline]
    assert "audit~3" in str(lab.run("%ethang sessions").value)


def test_a_session_made_again_with_its_cassette_begins_afresh_and_one_that_is_opened_goes_on(
    lab, monkeypatch
):
    made = {
        "name": "s",
        "window": 5000,
        "cassette": "demo",
        "providers": {"lab": {"base_url": lab.server.base_url}},
    }
    first = Session("lab/reader", **made)
    said = str(first.run(TASK))
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    second = Session("lab/reader", **made)
    assert first.closed
    assert said == str(second.run(TASK))
    second.close()
    again = open_session("s")
    assert len(again.timeline) == len(second.timeline)
    again.close()
    with Session("lab/reader", **made) as third:
        assert () == tuple(third.timeline)
        begun = third.recorded
    with Session("lab/reader", **made, fresh=False) as fourth:
        assert begun == fourth.recorded
    assert ["s", "s~1", "s~2"] == sorted(row.name for row in eth_sessions())


def test_a_new_session_with_a_cassette_has_the_same_name_at_each_run_all(lab):
    cells = [CELL.format(""), CELL.format("--new"), CELL.format("--new").replace("its cap", "the cap")]
    names = []
    for _ in range(2):
        lab.restart()
        lab.at(lab.server.base_url)
        names.append([lab.run(cell).value.session for cell in cells])
    assert [["audit", "audit-2", "audit-3"]] * 2 == names


def test_in_auto_what_cannot_be_asked_says_which_message_is_not_on_the_tape(lab):
    lab.run(CELL.format(""))
    lab.down()
    table = {"base_url": NOWHERE, "key": "NO_SUCH_LAB_KEY"}
    lab.run(f"%config Ethang.providers = {{'lab': {table!r}}}")
    run = lab.run(CELL.format("").replace("its cap", "its date")).value
    assert "NO_SUCH_LAB_KEY" in run.error
    assert "cassette demo.cassette.jsonl has no answer to this request: message 2 (user) differs" in run.error
    assert run.detail.endswith("+…me which order is affected and what its date is.")
    assert "what its date is." in str(run)
