"""What Tab offers behind the magics."""

import pytest

import ethang_nb
from ethang_nb.agent.session import BUILT_IN
from ethang_nb.notebook.commands import COMMANDS
from ethang_nb.providers.endpoints.table import WIRES


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
        ("%%ethang --model ll", ["llamacpp/", "llama-server/"], "ll"),
        (
            "%%ethang --model llamacpp/",
            ["llamacpp/SMALL.GGUF", "llamacpp/contracts/", "llamacpp/deep/"],
            "llamacpp/",
        ),
        ("%%ethang --model llamacpp/deep/", ["llamacpp/deep/one.gguf"], "llamacpp/deep/"),
        ("%%ethang --summariser=llamacpp/de", ["llamacpp/deep/"], "llamacpp/de"),
        (
            "%%ethang --model 'llamacpp/deep/",
            ["llamacpp/deep/one.gguf", "llamacpp/deep/two words.gguf"],
            "llamacpp/deep/",
        ),
        ("%%ethang --model script:sa", ["script:say.yaml"], "script:sa"),
        ('%%ethang --model "openai/gpt-4-0613', ["openai/gpt-4-0613"], "openai/gpt-4-0613"),
        ("%%ethang --model llamacpp/a.gguf?ct", ["llamacpp/a.gguf?ctx="], "llamacpp/a.gguf?ct"),
        ("%%ethang --model llamacpp/a.gguf?ctx=9&c", ["llamacpp/a.gguf?ctx=9&c"], "llamacpp/a.gguf?ctx=9&c"),
        ("%%ethang --model openai/gpt-5?b", ["openai/gpt-5?base_url="], "openai/gpt-5?b"),
        ("%%ethang --model openai/gpt-5?he", ["openai/gpt-5?header."], "openai/gpt-5?he"),
        ("%%ethang --model reader?nudge=i", ["reader?nudge=ignore"], "reader?nudge=i"),
        ("%%ethang --model mine/m?", ["mine/m?"], "mine/m?"),
        ("%%ethang --window ab", ["ab"], "ab"),
        ("%ethang pin pri", ["pri"], "pri"),
    ],
)
def test_what_fits_is_offered(notebook, line, names, fragment):
    (notebook.folder / "deep").mkdir()
    for name in ("SMALL.GGUF", "deep/one.gguf", "deep/two words.gguf"):
        (notebook.folder / name).touch()
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
    assert [*BUILT_IN, "none", "lookup"] == offered(notebook, "%%ethang --tools ")[0]


def test_a_flag_that_stands_there_is_not_offered_again(notebook):
    assert "--window" not in offered(notebook, "%%ethang --window 6000 --")[0]


def test_wires_are_offered_for_a_provider_of_the_project(notebook):
    notebook.run(
        "%config Ethang.providers = {'mine': {'base_url': 'http://127.0.0.1:1/v1', 'models': {'m': {}}}}"
    )
    assert ["mine/m"] == offered(notebook, "%%ethang --model mine/")[0]
    names = [f"mine/m?wire={wire}" for wire in WIRES]
    assert names == offered(notebook, "%%ethang --model mine/m?wire=")[0]
    assert "mine/m?key=a&base_url=" in offered(notebook, "%%ethang --model mine/m?key=a&")[0]
    assert "mine/m?key=a&key=" not in offered(notebook, "%%ethang --model mine/m?key=a&")[0]


@pytest.mark.parametrize("flag", ["--model nobody/", "--window ", "--model llamacpp/nowhere/", "--steps "])
def test_where_nothing_fits_no_name_of_python_is_offered(notebook, flag):
    names, _ = offered(notebook, f"%%ethang {flag}")
    assert not {"abs", "print", "ArithmeticError"} & set(names)
    assert 1 >= len(names)


@pytest.mark.parametrize("line", ["eth", "%ethan", "print('%ethang st", "%ethanol st"])
def test_nothing_is_offered_elsewhere(notebook, line):
    assert not set(COMMANDS) & set(offered(notebook, line)[0])


def test_nothing_is_offered_in_the_text_of_a_cell(notebook):
    assert not set(COMMANDS) & set(offered(notebook, "st", before="%%ethang\n")[0])


def test_a_record_that_cannot_be_read_is_no_fault_of_tab(notebook, home):
    (home / "ethang_home" / "ethang.db").write_bytes(b"no database, by far" * 100)
    assert "audit" not in offered(notebook, "%ethang status --session ")[0]
