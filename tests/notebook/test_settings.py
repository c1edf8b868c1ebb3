"""Where a session's settings come from: flag > %config > ethang.toml > environment > default."""

from ethang_nb.agent.opening import find_open
from ethang_nb.context.messages import assistant
from ethang_nb.errors import Overflow
from ethang_nb.providers.protocol import Reply, Usage
from tests.agent.stage import Answers

SAY = "%%ethang --model script:say.yaml"


def status(notebook):
    return " ".join(str(notebook.run("%ethang status").value).split())


def test_each_setting_says_where_it_came_from(notebook, monkeypatch):
    (notebook.folder / "ethang.toml").write_text('[ethang]\npolicy = "pressure"\n')
    monkeypatch.setenv("ETHANG_WINDOW", "7000")
    notebook.run("%config Ethang.model = 'script:say.yaml'")
    notebook.run("%%ethang\nsay")
    said = status(notebook)
    assert "script:say.yaml (a script, not a language model) (from %config)" in said
    assert "pressure (from ethang.toml)" in said
    assert "7,000 tokens, 5,600 of them usable (from ETHANG_WINDOW)" in said


def test_a_flag_wins_over_config(notebook):
    notebook.run("%config Ethang.window = 5000")
    notebook.run(f"{SAY} --window 6000\nsay")
    assert 6000 == find_open("audit").window.total


def test_config_set_between_two_cells_counts_for_the_second(notebook):
    notebook.run("%config Ethang.window = 5000")
    notebook.run(f"{SAY} --window 6000\nsay")
    notebook.run("%%ethang\nsay")
    assert 6000 == find_open("audit").window.total
    notebook.run("%config Ethang.window = 7000")
    notebook.run("%%ethang\nsay")
    assert 7000 == find_open("audit").window.total
    assert "(from %config)" in status(notebook)


def test_the_files_settings_are_those_of_a_new_session_only(notebook):
    notebook.run(f"{SAY} --window 6000\nsay")
    (notebook.folder / "ethang.toml").write_text("[ethang]\nwindow = 9000\n")
    notebook.run("%%ethang\nsay")
    assert 6000 == find_open("audit").window.total
    notebook.run(f"{SAY} --new\nsay")
    assert 9000 == find_open("audit-2").window.total


def test_a_session_from_the_record_says_so(notebook):
    notebook.run(f"{SAY} --window 6000\nsay")
    notebook.restart()
    assert "6,000 tokens, 4,800 of them usable (from the record)" in status(notebook)


def test_the_window_is_told_as_the_budget_has_it_with_who_said_so(notebook):
    """A provider that counts more than we do, and has corrected the window that was given."""
    notebook.run(f"{SAY} --window 6000\nsay")
    session = find_open("audit")
    session.provider = Answers(
        Overflow("too long", tokens=1_000, limit=4_000),
        Reply(message=assistant("done"), stop="end", usage=Usage(input=1_000, output=1)),
    )
    run = session.run("go")
    assert run.ok, run.error
    budget, said = session.snapshot.budget, status(notebook)
    assert budget.usable < budget.window.usable
    assert f"4,000 tokens, {budget.usable:,} of them usable (this model is taken to count " in said
    assert "% of ours); overflow message; 6,000 was given (from argument)" in said
    assert f"of {budget.usable:,} usable tokens" in " ".join(str(session.snapshot).split())


def test_steps_are_counted_as_runs_count_them(notebook):
    steps = notebook.run(f"{SAY}\nsay").value.steps
    notebook.run("%ethang compact")
    assert f"at rest after {steps} step" in status(notebook)
    assert steps < find_open("audit").live.step


def test_a_session_whose_script_is_gone_goes_on_with_the_model_a_cell_names(notebook):
    notebook.run(f"{SAY} --window 6000\nsay")
    before = find_open("audit").recorded
    notebook.restart()
    (notebook.folder / "say.yaml").unlink()
    assert "say.yaml cannot be read" in notebook.fails("%%ethang\nsay").line()
    assert (
        notebook.run("%%ethang --model reader\nRead contracts/c2.txt and tell me what binds party 34.").error
        is None
    )
    session = find_open("audit")
    assert ("reader", before) == (session.model, session.recorded[: len(before)])


def test_a_wrong_variable_is_named_in_one_line(notebook, monkeypatch):
    monkeypatch.setenv("ETHANG_MODEL", "reder")
    said = notebook.fails("%%ethang\nsay").line()
    assert "Unknown: unknown model in ETHANG_MODEL 'reder'; did you mean 'reader'?" == said
