"""What Tab offers behind %ethang and %%ethang: subcommands, flags, and the names their values can have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from ethang_nb.agent.given import NO_TOOLS
from ethang_nb.agent.session import BUILT_IN
from ethang_nb.agent.tool import Tool
from ethang_nb.config import own_policies
from ethang_nb.context.policies import POLICIES
from ethang_nb.errors import EthangError
from ethang_nb.notebook.arguments import HELP_FLAGS, Flag
from ethang_nb.notebook.cell import FLAGS
from ethang_nb.notebook.commands import COMMANDS
from ethang_nb.notebook.model_offers import files, model_ids
from ethang_nb.notebook.sessions import NotebookSessions

__all__ = ["Matcher", "matcher"]

Matcher = Callable[[CompletionContext], SimpleMatcherResult]

_LINE = re.compile(r"\s*(?:\w+\s*=\s*)?(?P<magic>%%?)ethang\s+(?P<rest>.*)", re.DOTALL)
_BLANK = re.compile(r"\s")


def matcher(sessions: NotebookSessions, namespace: Mapping[str, Any]) -> Matcher:
    """The matcher to put before the completer's others. It never raises and opens nothing."""

    @context_matcher()  # type: ignore[untyped-decorator]
    def ethang_matcher(context: CompletionContext) -> SimpleMatcherResult:
        found = _LINE.fullmatch(context.text_until_cursor)
        if found is None or (found["magic"] == "%%" and context.cursor_line > 0):
            return SimpleMatcherResult(completions=[], suppress=False)
        before, word, quoted = _words(found["rest"])
        fragment, names = _after(found["magic"], before, word, sessions, namespace)
        return _result(fragment, names, quoted=quoted)

    matched: Matcher = ethang_matcher
    return matched


def _after(
    magic: str, before: Sequence[str], word: str, sessions: NotebookSessions, namespace: Mapping[str, Any]
) -> tuple[str, Iterable[str]]:
    """The fragment to be completed, and what it may become."""
    if magic == "%" and not before:
        return word, (*COMMANDS, *HELP_FLAGS)
    command = COMMANDS.get(before[0]) if magic == "%" else None
    flags = FLAGS if magic == "%%" else command.flags if command else ()
    name, equals, value = word.partition("=") if word.startswith("-") else (word, "", "")
    flag = _named(name, flags) if equals else _named(before[-1], flags) if before else None
    if flag is not None and flag.value:
        return _values(flag, value if equals else word, sessions, namespace)
    if command is not None and command.name == "help":
        return word, COMMANDS
    if command is not None and command.name == "models":
        return word, _models(word, sessions)
    used = {item.partition("=")[0] for item in before}
    return word, [flag.name for flag in flags if flag.name not in used] if word.startswith(
        "-"
    ) or not word else ()


def _named(name: str, flags: Sequence[Flag]) -> Flag | None:
    return next((flag for flag in flags if flag.name == name), None)


def _values(
    flag: Flag, word: str, sessions: NotebookSessions, namespace: Mapping[str, Any]
) -> tuple[str, Iterable[str]]:
    match flag.offers:
        case "session":
            return word, _sessions(sessions)
        case "policy":
            return word, _policies()
        case "model":
            return word, _models(word, sessions)
        case "tools":
            last = word.rpartition(",")[2]
            own = [name for name, value in namespace.items() if isinstance(value, Tool)]
            return last, (*BUILT_IN, NO_TOOLS, *own)
        case "file":
            return word, files(word)
        case _:
            return word, ()


def _sessions(sessions: NotebookSessions) -> tuple[str, ...]:
    try:
        return sessions.names()
    except EthangError:  # a record that cannot be read has nothing to offer
        return ()


def _policies() -> tuple[str, ...]:
    try:
        return (*POLICIES, *own_policies())
    except EthangError:  # a file that is wrong is named by whatever reads it next
        return tuple(POLICIES)


def _models(word: str, sessions: NotebookSessions) -> Iterable[str]:
    try:
        tables = sessions.tables
    except EthangError:  # a file that is wrong is named by whatever reads it next
        tables = {}
    return model_ids(word, tables)


def _words(text: str) -> tuple[list[str], str, bool]:
    """The words before the cursor, the one it stands in, and whether that is inside a quote."""
    words, quote = [""], ""
    for char in text:
        if char == quote:
            quote = ""
        elif not quote and char in "\"'":
            quote = char
        elif not quote and char.isspace():
            words.append("")
        else:
            words[-1] += char
    *before, word = words
    return [item for item in before if item], word, bool(quote)


def _result(fragment: str, names: Iterable[str], *, quoted: bool = False) -> SimpleMatcherResult:
    """What fits, else the fragment as it stands: Python's own names have no business in a line of ours."""
    fitting = [name for name in names if name.startswith(fragment) and (quoted or not _BLANK.search(name))]
    completions = [SimpleCompletion(text=name, type="magic") for name in fitting or [fragment]]
    return SimpleMatcherResult(
        completions=completions, matched_fragment=fragment, ordered=True, suppress=True
    )
