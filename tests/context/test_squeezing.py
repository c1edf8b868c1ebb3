"""Squeezing takes away what a terminal or a pretty printer added, and nothing else."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ethang_nb.context.squeezing import squeeze

MARKER = re.compile(r"\[the line above comes \d+ times(, last at [^\]]*)?\]")
ESC = "\x1b"
GREY, GREEN, RED, PLAIN = f"{ESC}[90m", f"{ESC}[32m", f"{ESC}[31m", f"{ESC}[0m"


def pip_bar(done, eta):
    return f"     {GREY}━━━━╸━━━━━{PLAIN} {GREEN}{done}/16.3 MB{PLAIN} {RED}42.1 MB/s{PLAIN} eta {eta}"


PIP = (
    "Collecting numpy\n  Downloading numpy-2.1.0.whl (16.3 MB)\n"
    f"{ESC}[?25l"
    + "".join(f"{pip_bar(done / 10, '0:00:01')}\r{ESC}[2K" for done in range(0, 163, 9))
    + pip_bar("16.3", "0:00:00")
    + f"\n{ESC}[?25hInstalling collected packages: numpy\nSuccessfully installed numpy-2.1.0\n"
)
NPM = (
    "".join(f"{ESC}[1G{ESC}[0K{spinner} reify: timing {n}" for n, spinner in enumerate("⠋⠙⠹⠸⠼⠴" * 5))
    + f"{ESC}[1G{ESC}[0K\nadded 66 packages in 3s\n\n\n\n3 packages are looking for funding\n"
)
PYTEST = (
    f"{ESC}[1m======== test session starts ========{PLAIN}\n"
    f"tests/test_a.py {GREEN}.{PLAIN}{GREEN}.{PLAIN}{RED}F{PLAIN}{RED}     [100%]{PLAIN}\n\n"
    f"{ESC}[1m{RED}E   AssertionError: 41 != 42{PLAIN}\n"
)
TQDM = "".join(
    f"\rEpoch 1: {n:3d}%|{'█' * n}{' ' * (100 - n)}| {n}/100 [00:{n % 60:02d}<00:01, 9.8it/s]"
    for n in range(101)
)
GIT = (
    "".join(f"remote: Counting objects: {n:3d}% ({n}/100){ESC}[K\r" for n in range(101))
    + f"remote: Counting objects: 100% (100/100), done.{ESC}[K\nremote: Total 100 (delta 3){ESC}[K\n"
)
APT = (
    "\r0% [Working]\r            \rHit:1 http://deb.example stable InRelease\n"
    "\rReading package lists... 0%\rReading package lists... Done\n"
)
LS = f"{PLAIN}{ESC}[01;34mbin{PLAIN}  {ESC}[01;32mrun.sh{PLAIN}  README\n"

BROKEN = '{\n  "a": 1,\n  "b": [2, 3\n}\n'


# ---- terminals


TERMINALS = {
    "pip": (
        PIP,
        ("Collecting numpy\n  Downloading numpy-2.1.0.whl (16.3 MB)\n"
        "     ━━━━╸━━━━━ 16.3/16.3 MB 42.1 MB/s eta 0:00:00\n"
        "Installing collected packages: numpy\nSuccessfully installed numpy-2.1.0\n"),
    ),
    "npm": (
        NPM,
        "⠴ reify: timing 29\nadded 66 packages in 3s\n\n3 packages are looking for funding\n",
    ),
    "pytest": (
        PYTEST,
        "======== test session starts ========\ntests/test_a.py ..F     [100%]\n\nE   AssertionError: 41 != 42\n",
    ),
    "tqdm": (TQDM, f"Epoch 1: 100%|{'█' * 100}| 100/100 [00:40<00:01, 9.8it/s]"),
    "git": (GIT, "remote: Counting objects: 100% (100/100), done.\nremote: Total 100 (delta 3)\n"),
    "apt": (APT, "Hit:1 http://deb.example stable InRelease\nReading package lists... Done\n"),
    "ls": (LS, "bin  run.sh  README\n"),
}  # fmt: skip


@pytest.mark.parametrize(("shown", "squeezed"), TERMINALS.values(), ids=TERMINALS)
def test_what_a_terminal_would_show_in_the_end_stays(shown, squeezed):
    assert squeezed == squeeze(shown)


@pytest.mark.parametrize(
    "code",
    [
        f"{ESC}[31m", f"{ESC}[38;2;255;0;0m", f"{ESC}[?25l", f"{ESC}[2J", f"{ESC}[K", f"{ESC}(B", f"{ESC}c", f"{ESC}7",
        f"{ESC}]8;;http://x.example\x07", f"{ESC}]0;title{ESC}\\", f"{ESC}P1$r0m{ESC}\\", ESC,
    ],
)  # fmt: skip
def test_escape_codes_go(code):
    assert "one two" == squeeze(f"one {code}two")


def test_what_two_codes_leave_is_no_code():
    assert ESC not in squeeze(f"{ESC}{ESC}[0m[31mtext{ESC}]8;;no end of this\nnext")


def test_a_control_string_without_an_end_takes_no_text_along():
    assert "8;;http://x.example text\nnext" == squeeze(f"{ESC}]8;;http://x.example text\nnext")


@pytest.mark.parametrize("ends", ["\r", "\r\n", "\r\r\n"])
def test_carriage_returns_that_end_lines_lose_no_line(ends):
    rows = ["order,amount", "ORD-1,12", "ORD-2,7", "ORD-3,1250"]
    assert rows == squeeze(ends.join(rows) + ends).split("\n")[:4]


def test_a_message_between_states_stays():
    assert "WARNING: disk is nearly full\n100% done" == squeeze(
        "10%\rWARNING: disk is nearly full\r50%\r100% done"
    )


def test_a_wiped_state_goes_whatever_it_said():
    assert "ready" == squeeze(f"scanning a/b/c\r{ESC}[Kscanning d\r{ESC}[2Kready")


# ---- lines


def test_a_line_that_repeats_becomes_one_and_a_marker():
    lines = ["start", *["retrying the connection to the server"] * 40, "gave up"]
    assert [
        "start", "retrying the connection to the server", "[the line above comes 40 times]", "gave up",
    ] == squeeze("\n".join(lines)).split("\n")  # fmt: skip


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("2026-11-30 10:00:01,123", "2026-11-30 10:07:59,001"),
        ("2026-11-30T10:00:01Z", "2026-11-30T10:07:59Z"),
        ("2026/11/30 10:00:01", "2026/11/30 10:07:59"),
        ("Nov 30 10:00:01", "Nov 30 10:07:59"),
        ("10:00:01", "10:07:59"),
    ],
)
@pytest.mark.parametrize("line", ["{} WARN no connection to db-3", "[{}] no connection"])
def test_a_log_line_at_another_time_is_the_same_line(line, first, last):
    """When it began stands in the line, when it ended in the marker."""
    text = "\n".join([line.format(first)] * 21 + [line.format(last)])
    assert [line.format(first), f"[the line above comes 22 times, last at {last}]"] == squeeze(text).split(
        "\n"
    )


@pytest.mark.parametrize(
    "line",
    ["order {} was late", "10:00:00 retry {} of 30 failed", "10:00:{:02d},5.25", "{} rows", "{}"],
)
def test_lines_that_differ_in_a_number_stay(line):
    text = "\n".join(line.format(number) for number in range(30))
    assert text == squeeze(text)


def test_a_short_run_stays_where_a_marker_would_be_longer():
    assert "}\n}\n}\n" == squeeze("}\n}\n}\n")


def test_a_marker_is_no_line_to_repeat():
    text = "x\n" + "[the line above comes 5 times]\n" * 9
    assert text == squeeze(text)


def test_long_runs_of_blank_lines_become_one():
    assert "a\n\n\nb\n\nc\n" == squeeze("a\n\n\nb\n \n\t\n\n\n\nc  \n")


# ---- JSON


def pairs(text):
    """A JSON text with everything a rewriter might lose: spelling of numbers, order and doubles of keys."""
    return json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str, parse_constant=str)


def test_indentation_goes_and_tokens_stay():
    tokens = [
        '"n": 1.00',
        '"n": 1e3',
        '"big": 123456789012345678901234567890',
        '"t": " a : [ 1 ] "',
        '"e": []',
    ]
    packed = '{"n":1.00,"n":1e3,"big":123456789012345678901234567890,"t":" a : [ 1 ] ","e":[]}'
    assert packed == squeeze("{\n  " + ",\n  ".join(tokens) + "\n}")


def test_blocks_of_json_among_other_lines():
    text = 'HTTP/1.1 200 OK\n\n{\n  "a": [\n    1,\n    2\n  ]\n}\ndone\n'
    assert 'HTTP/1.1 200 OK\n\n{"a":[1,2]}\ndone\n' == squeeze(text)


def test_a_list_of_the_same_values_is_no_run_of_lines():
    text = json.dumps([0] * 500, indent=2)
    assert [0] * 500 == json.loads(squeeze(text))


@pytest.mark.parametrize(
    "text",
    [
        BROKEN,
        BROKEN.replace("\n}", "]\n} trailing"),
        "{\n    'python': 'dict'\n}\n",
        "{\n    return x;\n}\n",
        "[INFO]\n  indented\n] no\n",
        "[\n" * 5 + "]",
        '{"one": "line", "as": "it came"}\n',
        '{"a": 1}\n{"a": 2}\n',
    ],
)
def test_what_is_no_indented_json_stays(text):
    assert text == squeeze(text)


def test_json_deeper_than_a_parser_goes_is_left_alone():
    text = "[\n 1," * 100_000
    assert squeeze(text).startswith("[\n 1,[")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.text(max_size=5), JSON) | st.lists(JSON),
    st.sampled_from([1, 2, 4, "\t"]),
    st.booleans(),
)
def test_json_keeps_its_value(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert pairs(text) == pairs(squeeze(text))
    assert "\n" not in squeeze(text)


# ---- any text

PIECES = st.sampled_from(
    [
        *"ab \t\r\x1b\n{}[],:1\"'|/-%█",
        *(
            "\n\n\n\n",
            "\r\n",
            "10%",
            "50%\r",
            "line\n",
            "line\n" * 9,
            "a longer line than a marker is, to be repeated\n",
        ),
        *("{\n", "[\n", '  "a": 1,\n', "  1\n", "}\n", "]\n"),
        *("10:00:01 no connection\n", "10:00:02 no connection\n" * 3, "[the line above comes 5 times]\n"),
        *(f"{ESC}[0m", f"{ESC}[K", f"{ESC}[1G", f"{ESC}]8;;x\x07"),
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80)


@settings(max_examples=600, deadline=None)
@given(TEXTS)
@example("{\n" * 40 + ' "a": 1\n}')
@example("[\n" + "  1\n" * 40 + "]\n")
@example("x\n" * 40 + "[the line above comes 40 times]\n" * 3)
def test_squeezed_again_it_stays_and_it_is_never_longer(text):
    squeezed = squeeze(text)
    assert len(squeezed) <= len(text)
    assert squeezed == squeeze(squeezed)
    assert squeezed == squeeze("".join(list(text)))
    assert not {"\r", ESC} & set(squeezed)


@settings(max_examples=600, deadline=None)
@given(TEXTS.map(lambda text: text.replace(ESC, "")))
def test_every_line_of_the_result_is_a_marker_json_or_stood_in_the_text(text):
    stood = {line.rstrip(" \t") for line in re.split(r"[\r\n]", text)}
    for line in squeeze(text).split("\n"):
        known = not line or line in stood or MARKER.fullmatch(line)
        assert known or (line[0] in "{[" and json.loads(line) is not None)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["a line of words", "another line of words", "", "x"]), max_size=30))
def test_a_marker_gives_back_the_lines_it_stands_for(lines):
    """Blank lines aside, the input can be written out again from what is left."""
    again: list[str] = []
    for line in squeeze("\n".join(lines)).split("\n"):
        count = re.fullmatch(r"\[the line above comes (\d+) times\]", line)
        again += [again[-1]] * (int(count[1]) - 1) if count else [line]
    assert [line for line in lines if line] == [line for line in again if line]
