"""What Tab offers behind the magics."""

import pytest

import ethang_nb
from ethang_nb.agent.session import BUILT_IN
from ethang_nb.notebook.commands import COMMANDS


def offered(notebook, line, before=""):
    """The names offered at the end of `line`, and the text they stand for."""
    text = before + line
    completer = notebook.shell.Completer
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        found = list(completer.completions(text, len(text)))
    return [item.text for item in found], {text[item.start : item.end] for item in found}


@pytest.mark.parametrize(
    ("line", "names", "fragment"),
    [
        ("%ethang sta", ["status"], "sta"),
        ("  %ethang se", ["segments", "sessions"], "se"),
        ("x = %ethang pl", ["plan"], "pl"),
        ("%ethang status --s", ["--session"], "--s"),
        ("%ethang pin --d", ["--decision"], "--d"),
        ("%ethang help un", ["unpin"], "un"),
        ("%%ethang --wi", ["--window"], "--wi"),
        ("%%ethang --new --window 6000 --po", ["--policy"], "--po"),
        ("%%ethang --policy ", ["ethang", "lean", "pressure", "trim", "compact", "priority", "reseed"], ""),
        ("%%ethang --policy=pr", ["pressure", "priority"], "pr"),
        ("%%ethang --model re", ["reader"], "re"),
        ("%%ethang --tools read_", ["read_file", "read_spill"], "read_"),
        ("%%ethang --tools read_file,li", ["list_files"], "li"),
        ("%%ethang --system contracts/c1", ["contracts/c1.txt"], "contracts/c1"),
    ],
)
def test_what_fits_is_offered(notebook, line, names, fragment):
    assert (names, {fragment}) == offered(notebook, line)


def test_all_subcommands_are_offered_behind_a_blank(notebook):
    names, _ = offered(notebook, "%ethang ")
    assert [*COMMANDS, "-h", "--help"] == names


def test_the_names_of_sessions_are_offered(notebook):
    notebook.run("%%ethang --model script:say.yaml --session café-1\nsay")
    assert (["café-1"], {""}) == offered(notebook, "%ethang status --session ")
    assert (["café-1"], {"caf"}) == offered(notebook, "%%ethang --session=caf")


def test_tools_of_the_notebook_are_offered(notebook):
    notebook.shell.user_ns["lookup"] = ethang_nb.tool(name="lookup")(lambda text: text)
    assert [*BUILT_IN, "lookup"] == offered(notebook, "%%ethang --tools ")[0]


def test_a_flag_that_stands_there_is_not_offered_again(notebook):
    assert "--window" not in offered(notebook, "%%ethang --window 6000 --")[0]


@pytest.mark.parametrize("line", ["eth", "%ethan", "print('%ethang st", "%ethanol st"])
def test_nothing_is_offered_elsewhere(notebook, line):
    assert not set(COMMANDS) & set(offered(notebook, line)[0])


def test_nothing_is_offered_in_the_text_of_a_cell(notebook):
    assert not set(COMMANDS) & set(offered(notebook, "st", before="%%ethang\n")[0])


def test_a_record_that_cannot_be_read_is_no_fault_of_tab(notebook, home):
    (home / "ethang_home" / "ethang.db").write_bytes(b"no database, by far" * 100)
    assert "audit" not in offered(notebook, "%ethang status --session ")[0]
