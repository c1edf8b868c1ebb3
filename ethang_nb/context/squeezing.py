r"""Squeezing: a tool's output without what a terminal or a pretty printer added to it. Nothing is reworded.

By rule, in this order: escape codes go; a line that was written over and over (`\r`) keeps its last state; JSON
loses its indentation; blanks at line ends go; a long run of blank lines becomes one; a run of the same line
becomes one and a marker that says how often it came. Every line of the result that is neither a marker nor
JSON stands in the input, escapes aside. Never longer than the input; squeezed again it stays as it is.

Whatever could be a fact stays: lines that differ in a number stay apart (a time of day at their beginning aside,
whose last value the marker names), and carriage returns that end lines, as on an old Mac, end lines.
"""

from __future__ import annotations

import json
import re
from itertools import groupby

__all__ = ["squeeze"]

BLANK_LINES = 2  # ► this many blank lines in a row are somebody's layout; more become one

# ECMA-48: control strings (links, titles) with their end, control sequences, other escapes; last, what is broken.
# A control string never reaches over its line, so that one without an end takes no text along.
_ESCAPE = (
    r"\x1b\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b\r\n]*\x1b\\"
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]+[0-~]|\x1b[78=>cDEHMNOZ\[\\\]PX^_]|\x1b"
)
_CONTROLS = re.compile(rf"(?:\r++|{_ESCAPE})++")
_RETURN = re.compile(r"\r|\x1b\[[01]?G")
_WIPES = re.compile(r"\x1b\[[12]K")
_WIPES_ONWARD = re.compile(r"\x1b\[0?K")
_WIPED = "\r\x1b"  # a return to a line that was wiped; when it is written no other escape is left

# What a progress display writes: percent, a part of a whole, a clock, a bar, a spinner.
_PROGRESS = re.compile(
    r"\d ?%|\d/\d|\d:\d\d|--:--|[█▉▊▋▌▍▎▏━╸╺▰▱░▒▓■□●○◐-◓⠁-⣿]|\[[#=>. -]{3,}\]|\w/s\b|^\W{1,2}$"
)
_SPINNER = re.compile(r"[\s.\-\\|/◐-◓⠁-⣿…]+")
_WORDS = re.compile(r"[^\W\d_]{3,}")

_STRING_OR_BLANK = re.compile(r'("(?:[^"\\]++|\\.)*+")|[ \t\r\n]+')
_OPENING = ("{", "[")
_CLOSING = ("}", "]")

_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T ]|[A-Z][a-z]{2} [ \d]\d "
_TIME = re.compile(rf"\[?(?:{_DATE})?\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?\]?")
_MARKER = re.compile(r"\[the line above comes \d+ times(?:, last at [^\]]*)?\]")


def squeeze(text: str) -> str:
    """`text` with fewer characters and all it says, or `text` itself where nothing can go. Time is linear."""
    text = _CONTROLS.sub(_return, text)
    lines = [state for line in text.split("\n") for state in _last_states(line)]
    lines = [line.rstrip(" \t\r") for line in lines]
    lines = _without_indentation(lines)
    lines = _without_blank_runs(lines)
    return "\n".join(_without_repeats(lines))


def _return(controls: re.Match[str]) -> str:
    """What is left of escape codes and carriage returns that follow each other: at most one return."""
    codes = controls.group()
    first = _RETURN.search(codes)
    if first is None:
        return ""
    wiped = _WIPES.search(codes) or _WIPES_ONWARD.search(codes, first.end())
    return _WIPED if wiped else "\r"


def _last_states(line: str) -> list[str]:
    """The last state of a line that was written over, after those that it does not stand for."""
    if "\r" not in line:
        return [line]
    kept: list[str] = []
    shown, gone = "", True
    for part in line.split("\r"):
        state, wiped = part.removeprefix("\x1b"), part.startswith("\x1b")
        blank = not state.strip(" \t")
        gone = gone or wiped or (blank and len(state) >= len(shown))
        if blank:
            continue
        if not (gone or _leads_to(shown, state)):
            kept.append(shown)
        shown, gone = state, False
    return [*kept, shown]  # also where it was wiped at last: it says how far things went


def _leads_to(state: str, after: str) -> bool:
    """Whether `state` is an earlier state of what `after` shows, going by the words and the look of it."""
    if _SPINNER.sub("", state) == _SPINNER.sub("", after):
        return True
    if not _PROGRESS.search(state):
        return False
    words, words_after = set(_WORDS.findall(state)), set(_WORDS.findall(after))
    return words <= words_after or words_after <= words


def _without_indentation(lines: list[str]) -> list[str]:
    """JSON that takes several lines on one, if all of the text is JSON or where a block of it is."""
    whole = "\n".join(lines)
    if whole.lstrip()[:1] in _OPENING and "\n" in whole.strip():
        packed = _packed(whole)
        if packed is not None:
            return [packed, ""] if not lines[-1] else [packed]
    kept: list[str] = []
    at = 0
    while at < len(lines):
        end = _block_end(lines, at)
        packed = _packed("\n".join(lines[at:end])) if end > at + 1 else None
        kept += lines[at : max(end, at + 1)] if packed is None else [packed]
        at = max(end, at + 1)
    return kept


def _block_end(lines: list[str], start: int) -> int:
    """Where a block ends that opens with the bracket at `start` and closes with one, indented lines between."""
    if not lines[start].startswith(_OPENING):
        return start
    end = start + 1
    while end < len(lines) and (not lines[end] or lines[end][0] in " \t"):
        end += 1
    return end + 1 if end > start + 1 and end < len(lines) and lines[end].startswith(_CLOSING) else start


def _packed(block: str) -> str | None:
    """The same JSON without blanks between its tokens, or None where it is none.

    Tokens are never touched, so spelling of numbers, order of keys and keys that come twice stay.
    """
    try:
        json.loads(block, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return _STRING_OR_BLANK.sub(lambda found: found[1] or "", block)


def _without_blank_runs(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for blank, run in groupby(lines, key=lambda line: not line):
        same = list(run)
        kept += same[:1] if blank and len(same) > BLANK_LINES else same
    return kept


def _without_repeats(lines: list[str]) -> list[str]:
    """Runs of the same line as one and a marker, where that is shorter. A marker is never part of a run."""
    kept: list[str] = []
    for _, run in groupby(enumerate(lines), key=_sameness):
        same = [line for _, line in run]
        marked = [same[0], _marker(same)]
        kept += marked if sum(map(len, marked)) + 1 < sum(map(len, same)) + len(same) - 1 else same
    return kept


def _sameness(numbered: tuple[int, str]) -> object:
    """Equal for lines that say the same at another time; blank lines and markers are like no other."""
    number, line = numbered
    if not line or _MARKER.fullmatch(line):
        return number
    time = _time(line)
    return (line.removeprefix(time),) if time else line


def _time(line: str) -> str:
    """The time that a line of a log begins with; "" where no words follow, as in a table of times."""
    time = _TIME.match(line)
    return time.group() if time is not None and _WORDS.search(line, time.end()) else ""


def _marker(same: list[str]) -> str:
    last = f", last at {_time(same[-1]).strip('[]')}" if same[0] != same[-1] else ""
    return f"[the line above comes {len(same)} times{last}]"
