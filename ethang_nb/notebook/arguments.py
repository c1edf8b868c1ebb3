"""Arguments of a magic line: flags from a table, words split as a POSIX shell splits them, nothing expanded.

A wrong word is one error that names it and the nearest valid one. The table of flags also makes the help text
and what Tab offers, so a flag is one row.
"""

from __future__ import annotations

import keyword
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Literal

from ethang_nb.errors import Misuse, Unknown

__all__ = ["HELP_FLAGS", "Flag", "Given", "parse", "silenced", "split", "variable"]

Offers = Literal["", "session", "model", "policy", "tools", "file"]
"""What Tab offers for a flag's value."""

HELP_FLAGS = ("-h", "--help")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag. `value` is the word that stands for its value in the help text, "" for a switch."""

    name: str
    about: str
    value: str = ""
    offers: Offers = ""

    @property
    def key(self) -> str:
        return self.name.lstrip("-")

    @property
    def usage(self) -> str:
        return f"{self.name} {self.value}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a line gives: `values` by flag, the `switches` that are on, and the `words` that belong to no flag.

    `help` says whether a flag asks for the help text; what stands behind it is not looked at.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    switches: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    help: bool = False


def split(line: str) -> list[str]:
    """The words of a line; quotes group and are taken off. Raises Misuse where one is not closed."""
    try:
        return shlex.split(line, posix=True)
    except ValueError as error:
        raise Misuse(
            f"the line ends inside a quote or after a backslash ({error}); close it: {_short(line)}"
        ) from None


def parse(line: str, flags: Sequence[Flag], *, text: bool = False) -> Given:
    """The flags and words of a line. `--flag value` and `--flag=value` are the same; `--` ends the flags.

    With `text` the flags stand first, and what follows them is one word kept exactly as it is written, unless
    all of it is one quoted string. Raises Unknown for a flag nobody knows, Misuse for one used wrongly.
    """
    rest = ""
    if text:
        line, rest = _before_text(line, flags)
    values: dict[str, str] = {}
    switches: set[str] = set()
    words: list[str] = []
    left = split(line)
    while left:
        word = left.pop(0)
        if word == "--":
            words += left
            break
        if not _is_flag(word):
            words.append(word)
            continue
        if word in HELP_FLAGS:
            return Given(help=True)
        name, equals, value = word.partition("=")
        flag = _named(name, flags)
        if flag.key in values or flag.key in switches:
            raise Misuse(f"{flag.name} is given twice; give it once")
        if not flag.value:
            if equals:
                raise Misuse(f"{flag.name} takes no value, and got {_short(value)}; write {flag.name} alone")
            switches.add(flag.key)
            continue
        if not equals:
            if not left or _is_flag(left[0]):
                raise Misuse(f"{flag.name} needs a value; write {flag.usage}")
            value = left.pop(0)
        values[flag.key] = value
    return Given(
        values=values,
        switches=frozenset(switches),
        words=(*words, rest) if rest else tuple(words),
    )


def silenced(text: str) -> tuple[str, bool]:
    """`text` without the `;` at its end, and whether one was there: as in any cell, it hides the output."""
    stripped = text.rstrip()
    return (stripped[:-1].rstrip(), True) if stripped.endswith(";") else (text, False)


def variable(name: str, flag: str) -> str:
    """`name` if a result can be bound to it. Raises Misuse."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise Misuse(f"{flag} {_short(name)} is no name of a variable; give one such as run")
    return name


def _before_text(line: str, flags: Sequence[Flag]) -> tuple[str, str]:
    """The part of the line that holds flags, and the text behind it."""
    stream = StringIO(line)
    lexer = shlex.shlex(stream, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    at = 0
    while True:
        text = line[at:].strip()
        try:
            word = lexer.get_token()
        except ValueError:
            break  # an apostrophe: text
        if word is None or not _is_flag(word):
            break
        at = stream.tell()
        if word == "--":
            return line[:at], _unquoted(line[at:].strip())
        flag = next((flag for flag in flags if flag.name == word), None)
        if flag is not None and flag.value and lexer.get_token() is not None:
            at = stream.tell()
    return line[:at], _unquoted(text)


def _unquoted(text: str) -> str:
    if text[:1] not in {"'", '"'}:
        return text
    try:
        words = shlex.split(text, posix=True)
    except ValueError:
        return text
    return words[0] if len(words) == 1 else text


def _is_flag(word: str) -> bool:
    return word.startswith("-") and word != "-" and not word[1:2].isdigit()


def _named(name: str, flags: Iterable[Flag]) -> Flag:
    for flag in flags:
        if flag.name == name:
            return flag
    raise Unknown("flag", name, (*(flag.name for flag in flags), "--help"))


def _short(text: str, limit: int = 60) -> str:
    shown = repr(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
