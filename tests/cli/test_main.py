import pytest

import ethang_nb
from ethang_nb.cli.main import COMMANDS, Command, main
from ethang_nb.errors import RanksMissing


def called(words, capsys):
    code = main(words)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("words", [["--version"], ["-V"], ["version"]])
def test_says_its_version(words, capsys):
    assert (0, f"ethang-nb {ethang_nb.__version__}\n", "") == called(words, capsys)


@pytest.mark.parametrize("words", [[], ["help"], ["-h"], ["--help"]])
def test_help_names_every_command_in_80_columns(words, capsys):
    code, out, err = called(words, capsys)
    assert (0, "") == (code, err)
    assert all(f"ethang-nb {name} " in out for name in COMMANDS)
    assert max(map(len, out.splitlines())) <= 80


def test_help_of_a_command_is_the_same_text_whichever_way_it_is_asked_for(capsys):
    texts = {called(words, capsys) for words in (["help", "demo"], ["demo", "-h"], ["demo", "--help"])}
    ((code, out, err),) = texts
    assert (0, "") == (code, err)
    assert all(option in out for option in ("--policy", "--window", "--model", "--real", "--out", "--folder"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["dmo"], "unknown command 'dmo'; did you mean 'demo'?"),
        (["help", "dmo"], "unknown command 'dmo'; did you mean 'demo'?"),
        (["--verson"], "unknown option '--verson'; did you mean '--version'?"),
        (["demo", "--polcy", "x"], "unknown option '--polcy'; did you mean '--policy'?"),
        (["demo", "--wind=3"], "unknown option '--wind'; did you mean '--window'?"),
        (["demo", "--policy", "presure"], "unknown policy 'presure'; did you mean 'pressure'?"),
        (["demo", "--model", "redaer"], "unknown model 'redaer'; did you mean 'reader'?"),
        (["demo", "--model", "reader?nudge=no"], "reader"),
        (["demo", "--window"], "expected one argument; see ethang-nb demo --help"),
        (["demo", "--window", "many"], "window is 'many'; give a whole number of tokens"),
        (["demo", "--window", "-5"], "window is '-5'"),
        (["demo", "--window", "99999999999999999999"], "to 100,000,000"),
        (["demo", "--steps", "none"], "--steps is 'none'; give a whole number of steps from 1"),
        (
            ["demo", "--model", "openai:gpt-4o"],
            "unknown model 'openai:gpt-4o'; did you mean 'openai/gpt-4o'?",
        ),
        (["demo", "--bogus"], "unknown option '--bogus'; known: "),
        (["demo", "--out", ""], "--out is blank; give a path"),
        (["demo", "--folder="], "--folder is blank; give a path"),
        (["demo", "--window", "700"], "take a larger window"),
        (["demo", "more"], "takes no argument 'more'"),
        (["demo", "--folder", "."], "is not an empty folder; name a new one"),
        (["demo", "--out", "."], "name a file in a folder that exists"),
        (["demo", "--out", "no such folder/report.html"], "name a file in a folder that exists"),
    ],
)
def test_a_wrong_call_is_one_line_and_code_2(words, expected, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "something").write_text("")
    code, out, err = called(words, capsys)
    assert 2 == code
    assert "" == out
    assert err.startswith("ethang-nb: ")
    assert 1 == len(err.splitlines())
    assert expected in err


def test_a_wrong_call_leaves_no_folder_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    main(["demo", "--window", "700"])
    assert [] == list(tmp_path.iterdir())


def test_a_window_that_the_task_does_not_fit_is_told_before_anything_is_printed(
    tmp_path, monkeypatch, capsys
):
    """Between a window too small for the fixed parts and one in which a first request can go."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    least = 700
    while "take a larger window" in called(["demo", "--window", str(least), "--steps", "1"], capsys)[2]:
        least += 16
    code, out, err = called(["demo", "--window", str(least), "--steps", "1"], capsys)
    assert (2, "") == (code, out)
    assert "30 of it this message" in err
    assert [] == list(tmp_path.iterdir())


def test_a_wrong_call_leaves_a_named_folder_as_it_was(tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("there", "new"):
        assert 2 == main(["demo", "--policy", "presure", "--folder", str(tmp_path / name)])
    assert ["there"] == [path.name for path in tmp_path.iterdir()]
    assert [] == list((tmp_path / "there").iterdir())


def failing(error):
    def run(found):
        raise error

    return Command(about="fails", arguments=lambda parser: None, run=run)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RanksMissing("the ranks are not here; reinstall"), "ethang-nb: the ranks are not here; reinstall\n"),
        (
            ValueError("two\nlines"),
            "ethang-nb: ValueError: two lines (a fault of ethang_nb; ETHANG_DEBUG=1 shows where)\n",
        ),
        (KeyboardInterrupt(), "ethang-nb: interrupted\n"),
    ],
)
def test_a_failure_is_one_line_and_code_1(error, said, monkeypatch, capsys):
    monkeypatch.setitem(COMMANDS, "demo", failing(error))
    assert (1, "", said) == called(["demo"], capsys)


def test_a_traceback_is_shown_only_where_it_is_asked_for(monkeypatch, capsys):
    monkeypatch.setitem(COMMANDS, "demo", failing(ValueError("no")))
    monkeypatch.setenv("ETHANG_DEBUG", "1")
    _, _, err = called(["demo"], capsys)
    assert err.startswith("Traceback")
    assert err.endswith("ETHANG_DEBUG=1 shows where)\n")
