"""The magic `ethang`: from a line and a cell to the value that is shown. Text is never expanded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.magic import no_var_expand
from IPython.display import display

from ethang_nb.agent.session import Session
from ethang_nb.errors import EthangError, Missing, Misuse, Unknown
from ethang_nb.notebook.arguments import HELP_FLAGS, parse, silenced, split
from ethang_nb.notebook.cell import FLAGS, run_cell
from ethang_nb.notebook.commands import COMMANDS, Asked, Command
from ethang_nb.notebook.help import HELP, Help
from ethang_nb.notebook.sessions import NotebookSessions

__all__ = ["NAME", "Magic", "magic"]

NAME = "ethang"
Magic = Callable[..., Any]


class Stopped(KeyboardInterrupt):
    """■ while a session was being opened: there is no run to show, and no traceback is worth showing."""

    def _render_traceback_(self) -> list[str]:
        return ["KeyboardInterrupt: stopped before the run began; run the cell again"]


def magic(shell: Any, sessions: NotebookSessions) -> Magic:
    """The function behind `%ethang` and `%%ethang`; its docstring is the help text."""

    @no_var_expand  # braces and $ reach the model as they are written
    def ethang(line: str, cell: str | None = None) -> Any:
        return _line(line, sessions) if cell is None else _cell(line, cell, shell, sessions)

    ethang.__doc__ = HELP
    return ethang


def _cell(line: str, cell: str, shell: Any, sessions: NotebookSessions) -> Any:
    given = parse(line, FLAGS)
    if given.help:
        return Help()
    # IPython's own decorator for this reads the text as Python, and fails at an apostrophe.
    text, quiet = silenced(cell)
    tell = _hushed if quiet else print
    show = _live if _has_comms(shell) and not quiet else None
    try:
        found = run_cell(given, text, sessions, tell, show)
    except KeyboardInterrupt:
        raise Stopped from None
    if found.variable:
        shell.push({found.variable: found.run})
    try:
        found.check()
    except EthangError:
        if not quiet:
            display(found.run)  # type: ignore[no-untyped-call]
        raise
    return None if quiet else found.run


def _hushed(_: str) -> None:
    """A ; at the end of a cell hides all that it says."""


def _has_comms(shell: Any) -> bool:
    """Whether a front end could show a live view: there is a kernel. A terminal has none."""
    return getattr(shell, "kernel", None) is not None


def _live(session: Session) -> None:
    """Displays the session's live view. Where it cannot be made the run goes on without, and says so."""
    from ethang_nb.views.widgets.context_view import ContextView

    try:
        data, metadata = ContextView.of(session).opening()
    except Missing as error:
        print(f"No live view: {error}")  # noqa: T201 - the cell's own words
        return
    display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]


def _line(line: str, sessions: NotebookSessions) -> Any:
    line, quiet = silenced(line)
    name, _, rest = line.strip().partition(" ")
    if not name or name in HELP_FLAGS:
        return None if quiet else Help()
    command = COMMANDS.get(name)
    if command is None and name.startswith("-"):
        raise Misuse(
            f"{name[:60]!r} stands before the subcommand; write %ethang SUBCOMMAND [flags], see %ethang help"
        )
    if command is None:
        raise Unknown("subcommand", _first(line), COMMANDS)
    given = parse(rest, command.flags, text=command.text)
    if given.help:
        return None if quiet else Help()
    _check_words(command, given.words)
    value = command.run(Asked(sessions=sessions, given=given))
    return None if quiet else value


def _first(line: str) -> str:
    """The word that should have been a subcommand. Raises Misuse for a quote that is not closed."""
    return split(line)[0] if split(line) else ""


def _check_words(command: Command, words: tuple[str, ...]) -> None:
    least, most = command.words
    if len(words) < least:
        raise Misuse(f"%ethang {command.name} needs {command.arguments}; write %ethang {command.usage}")
    if len(words) > most:
        raise Misuse(
            f"%ethang {command.name} does not take {words[most][:60]!r}; write %ethang {command.usage}"
        )
