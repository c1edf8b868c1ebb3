"""%%ethang: the text of a cell as a piece of work of the notebook's session.

Its outputs are the live view, shown before the worker starts, and the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ethang_nb.agent.run import Run
from ethang_nb.agent.session import Session
from ethang_nb.config import NAMES, steps
from ethang_nb.errors import CassetteMiss, EmptyTask, Misuse, PathRefused
from ethang_nb.notebook.arguments import Flag, Given, variable
from ethang_nb.notebook.commands import COMMANDS
from ethang_nb.notebook.sessions import Choice, NotebookSessions
from ethang_nb.views.plain import line

__all__ = ["FLAGS", "CellRun", "run_cell"]

FLAGS = (
    Flag(
        name="--session",
        value="NAME",
        offers="session",
        about="go on with this session, or start it (the notebook's own)",
    ),
    Flag(name="--new", about="start an empty session, the notebook's own from now on"),
    Flag(name="--model", value="ID", offers="model", about="which model answers"),
    Flag(name="--window", value="TOKENS", about="size of the window"),
    Flag(name="--policy", value="NAME", offers="policy", about="what keeps the window below its limits"),
    Flag(name="--system", value="FILE", offers="file", about="a system text of your own"),
    Flag(name="--project", value="FILE", offers="file", about="a project text that every request carries"),
    Flag(
        name="--tools",
        value="A,B",
        offers="tools",
        about="functions of the notebook to add, or the built-in tools to keep; none: no tool at all",
    ),
    Flag(name="--summariser", value="ID", offers="model", about="which model writes the handoff notes"),
    Flag(
        name="--cassette",
        value="NAME",
        offers="file",
        about="record what the model answers; in a new kernel begin afresh and answer from there",
    ),
    Flag(name="--steps", value="N", about="the most steps a run may take"),
    Flag(name="--detach", about="return at once; the run goes on, and %ethang stop ends it"),
    Flag(
        name="--raise",
        about="raise an error unless the run completes; a cassette's miss in replay always is one",
    ),
    Flag(name="-o", value="VAR", about="bind the run to this variable"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRun:
    """The run of a cell, the variable it is bound to ("" for none), and whether one that fell short is an error.

    `missed`: the request that had no answer on the cassette, where nothing else may answer. That is an error without
    being asked for: who runs a notebook from its cassette alone, as CI does, must not take a miss for a pass.
    """

    run: Run
    variable: str
    strict: bool
    missed: CassetteMiss | None = None

    def check(self) -> None:
        """Raises CassetteMiss for a miss in replay, RunEnded for a run that fell short where that was asked for."""
        if self.missed is not None:
            raise self.missed
        if self.strict:
            self.run.check()


def run_cell(
    given: Given,
    text: str,
    sessions: NotebookSessions,
    tell: Callable[[str], None] = print,
    show: Callable[[Session], None] | None = None,
) -> CellRun:
    """Runs `text` and waits for its end, so that Run All works; with --detach it returns at once.

    `tell` says what a person should know by then: that an earlier kernel's record goes on, and how the answer of a
    detached run is seen. `show` shows the session from then on; None where nothing could be seen of it.

    Raises what is wrong with the flags, the text or the settings before anything is recorded. ■ asks the run to
    end and waits for that; a second ■ lets go of it at once.
    """
    choice = _choice(given)
    name = variable(given.values["o"], "-o") if "o" in given.values else ""
    detach, strict = "detach" in given.switches, "raise" in given.switches
    if detach and strict:
        raise Misuse("--raise and --detach: a detached run has no ending yet; call run.wait().check() later")
    if not text.strip():
        raise EmptyTask("the task is empty; say what should be done in the lines below %%ethang")
    session = sessions.for_cell(choice)
    if said := sessions.resumed(session):
        tell(line(said))
    if show is not None:
        session.refuse_busy()  # a cell that cannot run shows why, and nothing else
        show(session)
    before = _missed(session)
    try:
        run = session.start(text) if detach else session.run(text)
    except KeyboardInterrupt:  # in the moment before the wait began
        session.stop()
        raise
    if detach:
        later = f"{name} in another cell" if name else "give -o NAME, and NAME in another cell"
        tell(f"The run goes on by itself and this output stays as it is; to see its answer: {later}.")
    missed = None if detach or (found := _missed(session)) is before else found
    return CellRun(run=run, variable=name, strict=strict, missed=missed)


def _missed(session: Session) -> CassetteMiss | None:
    return None if session.cassette is None else session.cassette.missed


def _choice(given: Given) -> Choice:
    for word in given.words:
        if word in COMMANDS:
            raise Misuse(
                f"{word} is a subcommand of the line magic; write %ethang {word} in a cell of its own"
            )
        raise Misuse(
            f"{word[:60]!r} is no flag; the task stands in the lines below %%ethang, see %ethang help"
        )
    values = given.values
    new = "new" in given.switches
    if new and "session" in values:
        raise Misuse("--session and --new name two sessions; give one of them")
    if not values.get("session", "x").strip():
        raise Misuse("--session is blank; give a name")
    return Choice(
        session=values.get("session"),
        new=new,
        settings={name: values[name] for name in NAMES if name in values},
        system=_file("--system", values["system"]) if "system" in values else None,
        project=_file("--project", values["project"]) if "project" in values else None,
        tools=_tools(values["tools"]) if "tools" in values else None,
        steps=steps(values["steps"]) if "steps" in values else None,
    )


def _tools(words: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in words.split(",") if name.strip())
    if not names:
        raise Misuse(f"--tools {words[:60]!r} names no tool; give names, as in --tools read_file,list_files")
    return names


def _file(flag: str, name: str) -> str:
    """The text of a file that a flag names."""
    try:
        return Path(name).expanduser().read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise PathRefused(
            f"{flag} {name[:200]!r} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise PathRefused(
            f"{flag} {name[:200]!r} cannot be read: {why}; give the path of a text file"
        ) from None
