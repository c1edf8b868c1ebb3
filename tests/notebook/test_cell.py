"""%%ethang: what a cell runs, what it leaves, and which session it runs in."""

import pytest

import ethang_nb
from ethang_nb.agent.opening import find_open
from ethang_nb.errors import RunEnded
from ethang_nb.views import stored

SAY = "%%ethang --model script:say.yaml"


def session(name="audit"):
    return find_open(name)


def last_user_text(name="audit"):
    return [message.text for message in session(name).sent if message.role == "user"][-1]


def test_the_reader_answers_from_files(notebook):
    run = notebook.run(
        "%%ethang --window 6000\nRead every file in contracts and tell me which order is affected."
    ).value
    assert "completed" == run.ending
    assert "ORD-47" in run.answer
    assert "contracts/c4.txt" in run.answer


def test_without_a_kernel_a_cell_has_one_output(notebook):
    shown = notebook.run(f"{SAY}\nsay")
    assert [] == shown.outputs
    data, _ = notebook.shell.display_formatter.format(shown.value)
    assert {"text/plain", "text/html", stored.MIME} == set(data)
    assert data["text/plain"].startswith("Completed: 1 step")
    assert "Run of audit" in data["text/html"]
    assert len(data["text/html"]) + len(data["text/plain"]) + stored.size(data[stored.MIME]) < 50_000


@pytest.mark.parametrize(
    "text", ['Use {x}, {{y}} and $HOME: {"a": 1}', "don't (", "100 % `ls` \\n 'q' \"r\" é 漢 🙂", "a;\nb"]
)
def test_the_text_reaches_the_model_as_it_is_written(notebook, text):
    notebook.shell.user_ns.update(x="wrong", HOME="wrong")
    notebook.run(f"{SAY}\n{text}")
    assert text == last_user_text()


def test_braces_in_the_line_are_not_expanded(notebook):
    notebook.shell.user_ns["x"] = "wrong"
    notebook.run("%%ethang --model script:say.yaml --session {x}$x\nsay")
    assert session("{x}$x") is not None


def test_a_run_can_be_bound_and_is_the_last_value(notebook):
    notebook.run(f"{SAY} -o found\nsay")
    assert "said" == notebook.run("found.answer").value


def test_a_semicolon_hides_the_output_and_is_no_part_of_the_text(notebook):
    assert notebook.run(f"{SAY} -o found\nsay; it;").value is None
    assert "say; it" == last_user_text()
    assert notebook.shell.user_ns["found"].ok


def test_cells_continue_the_session(notebook):
    notebook.run(f"{SAY}\nfirst")
    notebook.run("%%ethang\nsecond")
    assert ["first", "said", "second"] == [
        message.text for message in session().sent if message.role != "system"
    ]


def test_a_cell_without_a_name_means_the_notebooks_own_session(notebook):
    """Whatever session the cell before it named; its settings stay that one's own."""
    notebook.run(f"{SAY} --window 8000\nfirst")
    notebook.run(f"{SAY} --session other --window 6000\nsecond")
    notebook.run("%%ethang --window 7000\nthird")
    assert ("third", 7000) == (last_user_text("audit"), session("audit").window.total)
    assert ("second", 6000) == (last_user_text("other"), session("other").window.total)


def test_the_line_magic_looks_at_the_session_of_the_last_cell(notebook):
    notebook.run(f"{SAY}\nfirst")
    notebook.run(f"{SAY} --session other\nsecond")
    assert "Session other" in str(notebook.run("%ethang status").value)
    notebook.run("%%ethang\nthird")
    assert "Session audit" in str(notebook.run("%ethang status").value)


def test_new_starts_an_empty_one_that_is_the_notebooks_own_from_then_on(notebook):
    for text in ("first", "second", "third"):
        notebook.run(f"{SAY} --new\n{text}")
    assert ["first", "second", "third"] == [last_user_text(name) for name in ("audit", "audit-2", "audit-3")]
    notebook.run("%%ethang\nfourth")
    assert "fourth" == last_user_text("audit-3")


def test_the_card_names_the_session_and_what_it_held_before(notebook):
    first = notebook.run(f"{SAY}\nfirst").value
    assert "Session audit." in str(first).splitlines()
    second = notebook.run(f"{SAY}\nsecond").value
    assert "Session audit goes on after 1 step." in str(second).splitlines()
    assert "Session audit goes on after 1 step." in second._repr_html_()


def test_the_first_cell_that_joins_an_earlier_kernels_record_is_told_before_it_runs(notebook):
    """A notebook that was deleted leaves its record, and a new one of that name would go on with it unseen."""
    notebook.run(f"{SAY}\nfirst")
    assert "earlier kernel" not in notebook.run(f"{SAY}\nsecond").text
    notebook.restart()
    notebook.run("%ethang status")
    shown = notebook.run("%%ethang\nthird")
    said = "Session audit goes on after 2 steps that an earlier kernel recorded; to start afresh, give --new."
    assert said == shown.text.splitlines()[0]
    assert "Session audit goes on after 2 steps." in str(shown.value).splitlines()
    assert "earlier kernel" not in notebook.run("%%ethang\nfourth").text


def test_a_named_session_of_an_earlier_kernel_is_told_too_and_a_semicolon_hides_it(notebook):
    notebook.run(f"{SAY} --session other\nfirst")
    notebook.restart()
    assert (
        "to start afresh, give another --session.\n" in notebook.run("%%ethang --session other\nsecond").text
    )
    notebook.restart()
    assert "" == notebook.run("%%ethang --session other\nthird;").text


def test_the_steps_of_a_run_can_be_limited(notebook):
    task = "Read every file in contracts and tell me which order is affected."
    run = notebook.run(f"%%ethang --window 6000 --steps 3\n{task}").value
    assert ("step limit", 3) == (run.ending, run.steps)
    run = notebook.run(f"%%ethang --steps 50\n{task}").value
    assert "completed" == run.ending
    notebook.run("%%ethang --steps 2\nTell me what its cap is.")
    notebook.run("%%ethang --model script:say.yaml\nsay")
    assert 2 == session().limits.steps


def test_a_failed_start_takes_no_name(notebook):
    notebook.fails("%%ethang --new --window 700\nsay")
    assert "audit" == notebook.run(f"{SAY} --new\nsay").value.session


def test_window_and_policy_apply_to_the_open_session(notebook):
    notebook.run(f"{SAY} --window 6000\nsay")
    opened = session()
    notebook.run("%%ethang --window 7000 --policy pressure\nsay")
    assert opened is session()
    assert (7000, "pressure") == (opened.window.total, opened.policy.name)
    notebook.run("%%ethang\nsay")
    assert (7000, "pressure") == (opened.window.total, opened.policy.name)


def test_another_model_goes_on_with_the_record(notebook):
    notebook.run(f"{SAY} --window 6000\nfirst")
    events = len(session().recorded)
    run = notebook.run(
        "%%ethang --model reader\nRead contracts/c4.txt and tell me which order is affected."
    ).value
    assert "ORD-47" in run.answer
    assert session().recorded[events - 1].kind == "run end"
    assert () == session().drift
    assert 6000 == session().window.total


def test_other_texts_and_tools_go_on_with_the_record(notebook):
    (notebook.folder / "system.txt").write_text("You are brief.")
    (notebook.folder / "project.txt").write_text("Contracts of 2024.")
    notebook.run(f"{SAY}\nfirst")
    notebook.run("%%ethang --system system.txt --project project.txt --tools read_file\nsecond")
    assert session().sent[0].text == "You are brief.\n\nContracts of 2024."
    assert ("read_file", "read_spill") == session().toolbox.names
    notebook.run("%%ethang\nthird")
    assert session().sent[0].text == "You are brief.\n\nContracts of 2024."
    assert 3 == sum(event.kind == "run" for event in session().recorded)


def test_a_session_goes_on_after_a_restart_as_it_was(notebook):
    (notebook.folder / "system.txt").write_text("You are brief.")
    notebook.run(
        f"{SAY} --window 6000 --policy pressure --system system.txt --tools read_file,list_files\nfirst"
    )
    notebook.restart()
    notebook.run("%%ethang\nsecond")
    found = session()
    assert ("script:say.yaml", 6000, "pressure") == (found.model, found.window.total, found.policy.name)
    assert ("read_file", "list_files", "read_spill") == found.toolbox.names
    assert ["You are brief.", "first", "said", "second"] == [message.text for message in found.sent]


def test_a_session_has_no_tools_by_the_word_none_and_keeps_it_so(notebook):
    notebook.run(f"{SAY} --window 6000 --tools none\nfirst")
    assert () == session().toolbox.names
    assert "tools" not in session().sent[0].text
    notebook.run("%%ethang\nsecond")
    notebook.restart()
    notebook.run("%%ethang\nthird")
    assert () == session().toolbox.names
    notebook.run("%%ethang --tools read_file\nfourth")
    assert ("read_file", "read_spill") == session().toolbox.names
    assert "tools you are given" in session().sent[0].text
    notebook.run("%%ethang --tools none,read_file\nfifth", fails=True)
    assert not session().closed


def test_a_tool_of_the_notebook_is_given_by_name(notebook):
    notebook.run(
        "import ethang_nb as eth\n@eth.tool\ndef boom(text: str) -> str:\n    return text + ' it is'"
    )
    notebook.run("%%ethang --model script:boom.yaml --tools boom\ngo")
    assert "now it is" in [message.text for message in session().sent]
    assert "read_file" in session().toolbox.names


def test_a_tool_that_was_defined_anew_is_the_one_that_runs(notebook):
    notebook.run("def boom(text: str) -> str:\n    return 'old'")
    notebook.run("%%ethang --model script:boom.yaml --tools boom\ngo")
    notebook.run("def boom(text: str) -> str:\n    return 'new'")
    notebook.run("%%ethang --model script:boom.yaml?\ngo", fails=True)
    notebook.run("%%ethang --model reader\nRead contracts/c1.txt and tell me what binds party 1.")
    assert "new" == session().toolbox._tools["boom"].run("x")


def test_a_recorded_tool_that_is_not_defined_here_is_told(notebook):
    notebook.run("def boom(text: str) -> str:\n    return 'old'")
    notebook.run("%%ethang --model script:boom.yaml --tools boom\ngo")
    notebook.restart()
    notebook.run("del boom")
    assert "tool boom is in the record but not in this notebook" in str(notebook.run("%ethang status").value)
    notebook.run("%%ethang\ngo")
    assert "boom" not in session().toolbox.names


def test_an_ending_is_a_result_to_look_at(notebook):
    run = notebook.run("%%ethang --model script:fails.yaml\ngo").value
    assert "provider error" == run.ending
    assert "the server is down" in str(run)


def test_raise_makes_an_error_of_it(notebook):
    shown = notebook.fails("%%ethang --model script:fails.yaml --raise -o found\ngo")
    assert isinstance(shown.error, RunEnded)
    assert "RunEnded: provider error: the server is down" == shown.line()
    assert [1, "provider error"] == [len(shown.outputs), notebook.shell.user_ns["found"].ending]


def test_raise_says_nothing_of_a_run_that_completes(notebook):
    assert notebook.run(f"{SAY} --raise\nsay").value.ok


def test_a_detached_run_goes_on_and_holds_its_session(notebook):
    run = notebook.run("%%ethang --model script:slow.yaml --detach\ngo").value
    assert "running" == run.ending
    assert notebook.fails("%%ethang\nmore").line().startswith("SessionBusy: session audit is at step ")
    assert notebook.fails("%%ethang --window 9000\nmore").line().startswith("SessionBusy: ")
    assert notebook.fails("%%ethang --model reader\nmore").line().startswith("SessionBusy: ")
    assert notebook.fails("%%ethang --steps 9\nmore").line().startswith("SessionBusy: ")
    assert 100 == session().limits.steps
    assert "%ethang stop ends the run" in str(notebook.run("%ethang status").value)
    assert "running" in str(notebook.run("%ethang sessions").value)
    assert "asked to end its run" in str(notebook.run("%ethang stop").value)
    assert "interrupted" == run.wait(10).ending
    assert "completed" == notebook.run(f"{SAY}\nmore").value.ending


@pytest.mark.parametrize(
    ("flag", "said"),
    [("", "give -o NAME, and NAME in another cell."), (" -o found", "found in another cell.")],
)
def test_a_detached_run_says_how_its_answer_is_seen(notebook, flag, said):
    shown = notebook.run(f"{SAY} --detach{flag}\nsay")
    first = shown.text.splitlines()[0]
    assert first.endswith(f"this output stays as it is; to see its answer: {said}")
    assert "said" == shown.value.wait(10).answer
    assert "" == notebook.run(f"{SAY} --detach\nsay;").text
    session().stop()


def test_a_session_made_in_python_can_be_gone_on_with(notebook):
    with ethang_nb.Session("script:say.yaml", name="mine", window=6000) as mine:
        notebook.run("%%ethang --session mine --window 7000\nsay")
        assert ("say", 7000) == (last_user_text("mine"), mine.window.total)
        said = notebook.fails("%%ethang --session mine --model reader\nsay").line()
        assert said.startswith("Misuse: session mine was opened in Python, where its model can be changed")
        assert not mine.closed


def test_a_session_closed_in_python_is_opened_again(notebook):
    notebook.run(f"{SAY}\nfirst")
    session().close()
    notebook.run("%%ethang\nsecond")
    assert "second" == last_user_text()
