"""The words of a magic line: what is a flag, what is text, and what is said of a wrong one."""

import pytest

from ethang_nb.errors import Misuse, Unknown
from ethang_nb.notebook.arguments import Flag, parse, silenced, split, variable

FLAGS = (
    Flag(name="--session", value="NAME", about="which session"),
    Flag(name="--new", about="another one"),
    Flag(name="-o", value="VAR", about="bind it"),
)


def test_values_switches_and_words():
    given = parse("one --session 'a b' --new two -o run", FLAGS)
    assert {"session": "a b", "o": "run"} == given.values
    assert {"new"} == given.switches
    assert ("one", "two") == given.words


def test_an_equals_sign_is_a_space():
    assert {"session": "a=b"} == parse("--session=a=b", FLAGS).values


def test_two_dashes_end_the_flags():
    assert ("--new",) == parse("-- --new", FLAGS).words


def test_a_negative_number_is_no_flag():
    assert {"session": "-5"} == parse("--session -5", FLAGS).values


@pytest.mark.parametrize("line", ["-h", "--help", "--new --help", "-h --nonsense"])
def test_help_is_asked_for(line):
    assert parse(line, FLAGS).help


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--sesion a", "unknown flag '--sesion'; did you mean '--session'?"),
        ("--zzz", "unknown flag '--zzz'; known: --session, --new, -o, --help"),
        ("--session", "--session needs a value; write --session NAME"),
        ("--session --new", "--session needs a value; write --session NAME"),
        ("--new=yes", "--new takes no value, and got 'yes'; write --new alone"),
        ("--new --new", "--new is given twice; give it once"),
        ("--session a --session b", "--session is given twice; give it once"),
    ],
)
def test_a_wrong_flag_is_named(line, said):
    with pytest.raises((Misuse, Unknown)) as caught:
        parse(line, FLAGS)
    assert said == str(caught.value)


@pytest.mark.parametrize("line", ["--session 'a", '"', "a\\"])
def test_a_quote_that_is_not_closed_is_named(line):
    with pytest.raises(Misuse, match="close it") as caught:
        split(line)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("Don't open it", "Don't open it"),
        ('say "yes"  twice, {x} $y', 'say "yes"  twice, {x} $y'),
        ('"all of it"', "all of it"),
        ("'a' and 'b'", "'a' and 'b'"),
        ("--new -- --session", "--session"),
        ("--session s --new the rest --new", "the rest --new"),
        ("--session=s it's here", "it's here"),
        ("use -h for help", "use -h for help"),
        ("-5 degrees", "-5 degrees"),
    ],
)
def test_text_behind_the_flags_stays_as_it_is_written(line, text):
    assert (text,) == parse(line, FLAGS, text=True).words


def test_flags_before_a_text_are_flags():
    given = parse("--session 'a b' --new it's here", FLAGS, text=True)
    assert {"session": "a b"} == given.values
    assert {"new"} == given.switches


@pytest.mark.parametrize("line", ["", "   ", "--new", "--new   "])
def test_without_text_there_is_no_word(line):
    assert () == parse(line, FLAGS, text=True).words


def test_a_semicolon_at_the_end_hides_the_output():
    assert ("status", True) == silenced("status ; \n")
    assert ("a; b\n", False) == silenced("a; b\n")


@pytest.mark.parametrize("name", ["", "a b", "1a", "for", "a.b"])
def test_only_a_name_can_be_bound(name):
    with pytest.raises(Misuse, match="-o"):
        variable(name, "-o")
