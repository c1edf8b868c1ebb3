"""The help text: one, wherever it is asked for, made from the tables."""

import inspect

import pytest

import ethang_nb.notebook.commands as table
from ethang_nb.notebook.cell import FLAGS
from ethang_nb.notebook.commands import COMMANDS
from ethang_nb.notebook.help import HELP


@pytest.mark.parametrize(
    "source",
    [
        "%ethang -h",
        "%ethang --help",
        "%ethang help",
        "%ethang",
        "%%ethang -h",
        "\n\n%%ethang -h\n",
        "%%ethang --help\ntext",
        "%ethang plan -h",
    ],
)
def test_every_way_to_ask_shows_the_same_text(notebook, source):
    assert HELP == str(notebook.run(source).value)


@pytest.mark.parametrize("source", ["%ethang?", "%%ethang?"])
def test_a_question_mark_shows_that_text_too(notebook, monkeypatch, source):
    told = []
    monkeypatch.setattr("IPython.core.page.page", lambda text, *_, **__: told.append(text))
    notebook.run(source)
    told = [item["text/plain"] if isinstance(item, dict) else item for item in told]
    assert HELP in "\n".join(told)


def test_it_names_every_flag_and_subcommand_and_three_examples():
    for flag in FLAGS:
        assert f"  {flag.usage} " in HELP
    for command in COMMANDS.values():
        assert f"  {command.usage}" in HELP
    assert 3 == HELP[HELP.index("Three examples") :].count("\n  %")


def test_it_shows_the_table_of_the_file():
    assert '  [ethang]\n  model = "reader"\n' in HELP


def test_it_fits_a_terminal():
    assert max(map(len, HELP.splitlines())) <= 80


def test_one_subcommand_says_the_python_that_does_the_same(notebook):
    said = str(notebook.run("%ethang help pin").value)
    assert "%ethang pin [--decision] TEXT" in said
    assert "session.pin(text, kind='constraint')" in said


def test_asking_for_help_runs_nothing(notebook):
    notebook.run("%%ethang --help\nRead every file in contracts.")
    assert "There is no session" in str(notebook.run("%ethang status").value)


def test_every_subcommand_has_a_word_of_help_and_a_python_call():
    for command in COMMANDS.values():
        assert command.about
        assert command.call
        assert len(command.about) < 80
    assert "argparse" not in inspect.getsource(table)
