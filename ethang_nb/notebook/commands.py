"""Commands: the subcommands of %ethang as a table. A new one is a row here; help and Tab follow.

What a command returns is what the cell shows. Those that only look change nothing and ask nothing of a model.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ethang_nb.agent.opening import sessions
from ethang_nb.agent.session import Session
from ethang_nb.config import checked, own_policies
from ethang_nb.context import kinds
from ethang_nb.context.policies import POLICIES, Policies
from ethang_nb.errors import Misuse
from ethang_nb.notebook.arguments import Flag, Given
from ethang_nb.notebook.looked import looked_at
from ethang_nb.notebook.outputs import Line, Pins, Sessions, Several
from ethang_nb.notebook.request import SentRequest
from ethang_nb.notebook.sessions import HOW_TO_START, NotebookSessions
from ethang_nb.notebook.status import status

__all__ = ["COMMANDS", "SESSION", "Asked", "Command"]

LEVELS = ("nudge", "cleanup", "landing")
SESSION = Flag(
    name="--session", value="NAME", offers="session", about="work on this session instead of the last cell's"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a line asks of a command, and the notebook's sessions it is asked of."""

    sessions: NotebookSessions
    given: Given

    def look(self, show: Callable[[Session], Any]) -> Any:
        """What `show` says of the session; without one, the line that says how to start one."""
        session = self.sessions.shown(self.given.values.get("session"))
        return Line(said=f"There is {HOW_TO_START}.") if session is None else show(session)

    @property
    def session(self) -> Session:
        """The session, for a command that acts on it. Raises Misuse where there is none."""
        return self.sessions.acted_on(self.given.values.get("session"))

    @property
    def word(self) -> str:
        """The one word behind the flags, "" where there is none."""
        return self.given.words[0] if self.given.words else ""

    def on(self, switch: str) -> bool:
        return switch in self.given.switches


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One subcommand. `call` is the Python that does the same.

    `words` is how many words it takes at the least and at the most; with `text` what follows its flags is one.
    """

    name: str
    about: str
    call: str
    run: Callable[[Asked], Any]
    arguments: str = ""
    words: tuple[int, int] = (0, 0)
    text: bool = False
    flags: tuple[Flag, ...] = ()

    @property
    def usage(self) -> str:
        flags = " ".join(f"[{flag.usage}]" for flag in self.flags if flag is not SESSION)
        return " ".join(filter(None, (self.name, flags, self.arguments)))


def _status(asked: Asked) -> Any:
    known, named = asked.sessions, asked.given.values.get("session")
    stop = f"%ethang stop --session {shlex.quote(named)}" if named else "%ethang stop"
    return asked.look(
        lambda session: status(session, known.sources(session), known.notices(session), stop=stop)
    )


def _context(asked: Asked) -> Any:
    return asked.look(lambda session: looked_at(session.snapshot))


def _stop(asked: Asked) -> Any:
    session = asked.sessions.running(asked.given.values.get("session"))
    if session is None:
        name = asked.given.values.get("session") or asked.sessions.current
        if asked.sessions.states().get(name) == "open elsewhere":
            return Line(said=f"Session {name} is open in another process; a run of it is stopped there.")
        return Line(
            said="No run is going on that could be stopped; %ethang sessions says which sessions are at work."
        )
    step = session.live.step
    session.stop()
    return Line(
        said=f"Session {session.name} is asked to end its run, at step {step:,}; what was done is kept."
    )


def _plan(asked: Asked) -> Any:
    if asked.on("reseed"):
        return asked.look(lambda session: session.plan(reseed=True))
    return asked.look(
        lambda session: Several(
            parts=(
                ("At the next request:", session.plan()),
                ("If a cleanup came now:", session.plan(cleanup=True)),
            )
        )
    )


def _pin(asked: Asked) -> Any:
    session = asked.session
    session.pin(asked.word, "decision" if asked.on("decision") else "constraint")
    return Pins(pins=session.pins)


def _unpin(asked: Asked) -> Any:
    session = asked.session
    session.unpin(_number(asked.word, "the number of a pin"))
    return Pins(pins=session.pins)


def _request(asked: Asked) -> Any:
    step = _number(asked.word, "the number of a step") if asked.word else None

    def show(session: Session) -> Any:
        last = step
        if last is None:
            sent = session.archive.record.events(kinds=(kinds.REQUEST,))
            last = sent[-1].data["step"] if sent else 1
        return SentRequest(session=session.name, step=last, body=session.request(last), raw=asked.on("raw"))

    return asked.look(show)


def _policies(_: Asked) -> Any:
    return Policies((*POLICIES.values(), *own_policies().values()))


def _replay(asked: Asked) -> Any:
    values = asked.given.values
    window = checked("window", values["window"], "argument") if "window" in values else None
    levels = _levels(values["levels"]) if "levels" in values else None
    return asked.look(
        lambda session: session.replay(policy=values.get("policy"), window=window, levels=levels)
    )


def _levels(text: str) -> tuple[int, int, int]:
    """Three levels as `--levels` gives them. Raises Misuse."""
    words = [word.strip() for word in text.split(",")]
    if len(words) != len(LEVELS) or not all(word.isascii() and word.isdigit() for word in words):
        raise Misuse(
            f"--levels is {text[:60]!r}; give nudge, cleanup and landing per mille, as in --levels 700,800,400"
        )
    nudge, cleanup, landing = (int(word[:9]) for word in words)
    return nudge, cleanup, landing


def _trace(asked: Asked) -> Any:
    return asked.look(lambda session: session.trace(asked.word))


def _cool(asked: Asked) -> Any:
    session = asked.session
    session.cool()
    return Line(said=f"The next piece of work of session {session.name} starts from the core.")


def _models(asked: Asked) -> Any:
    from ethang_nb.notebook.models import known, listed

    tables = asked.sessions.tables
    return known(asked.word, tables) if asked.word else listed(tables)


def _help(asked: Asked) -> Any:
    from ethang_nb.notebook.help import Help

    return Help(command=asked.word or None)


def _number(word: str, what: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        raise Misuse(f"{word[:60]!r} is not {what}; give a whole number")
    return int(word)


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        row.name: row
        for row in (
            Command(
                name="status",
                about="settings and where they came from, fill, room, the record, notices",
                call="session.snapshot",
                run=_status,
                flags=(SESSION,),
            ),
            Command(
                name="context",
                about="the whole context: budget, segments, steps, cleanups, pins",
                call="session.snapshot",
                run=_context,
                flags=(SESSION,),
            ),
            Command(
                name="segments",
                about="what is in the window, whether it may leave and why",
                call="session.segments",
                run=lambda asked: asked.look(lambda session: session.segments),
                flags=(SESSION,),
            ),
            Command(
                name="plan",
                about="what the policy does at the next request, and what a cleanup would do now",
                call="session.plan(), session.plan(cleanup=True), session.plan(reseed=True)",
                run=_plan,
                flags=(
                    Flag(
                        name="--reseed",
                        about="what a start from the core would do, and what the core does not hold",
                    ),
                    SESSION,
                ),
            ),
            Command(
                name="stop",
                about="ends the run that is going on, as after --detach; ■ ends that of a cell",
                call="session.stop()",
                run=_stop,
                flags=(SESSION,),
            ),
            Command(
                name="compact",
                about="a cleanup now, or at the next step of a run that is going on",
                call="session.compact()",
                run=lambda asked: asked.session.compact(),
                flags=(SESSION,),
            ),
            Command(
                name="reseed",
                about="start from the core now, between two runs; plan --reseed shows it before",
                call="session.reseed()",
                run=lambda asked: asked.session.reseed(),
                flags=(SESSION,),
            ),
            Command(
                name="cool",
                about="drop the warm context: the next piece of work starts from the core",
                call="session.cool()",
                run=_cool,
                flags=(SESSION,),
            ),
            Command(
                name="pin",
                arguments="TEXT",
                about="keep a sentence word for word",
                call="session.pin(text, kind='constraint')",
                run=_pin,
                words=(1, 1),
                text=True,
                flags=(
                    Flag(name="--decision", about="a decision, where a pin is else a constraint"),
                    SESSION,
                ),
            ),
            Command(
                name="unpin",
                arguments="ID",
                about="lift a pin",
                call="session.unpin(id)",
                run=_unpin,
                words=(1, 1),
                flags=(SESSION,),
            ),
            Command(
                name="request",
                arguments="[STEP]",
                about="a request exactly as it was sent, the last one unless a step is named",
                call="session.request(step)",
                run=_request,
                words=(0, 1),
                flags=(Flag(name="--raw", about="the bytes as they are"), SESSION),
            ),
            Command(
                name="trace",
                arguments="TEXT",
                about="where a text went: in the window, in the record, when and how it left",
                call="session.trace(text)",
                run=_trace,
                words=(1, 1),
                text=True,
                flags=(SESSION,),
            ),
            Command(
                name="replay",
                about="every step so far under another policy, window or levels, with no model call",
                call="session.replay(policy=…, window=…, levels=…)",
                run=_replay,
                flags=(
                    Flag(
                        name="--policy", value="NAME", offers="policy", about="the policy (the session's own)"
                    ),
                    Flag(name="--window", value="TOKENS", about="size of the window (the session's own)"),
                    Flag(
                        name="--levels",
                        value="N,C,L",
                        about="nudge, cleanup and landing per mille of usable, as in 700,800,400",
                    ),
                    SESSION,
                ),
            ),
            Command(
                name="sessions",
                about="the sessions recorded in this folder",
                call="eth.sessions()",
                run=lambda asked: Sessions(rows=sessions(), states=asked.sessions.states()),
            ),
            Command(
                name="policies",
                about="the policies there are, those of ethang.toml among them",
                call="eth.policies",
                run=_policies,
            ),
            Command(
                name="models",
                arguments="[MODEL]",
                about="where models are reached and whether a key is there, or what is known of one",
                call="ethang_nb.providers.registry.facts(model)",
                run=_models,
                words=(0, 1),
            ),
            Command(
                name="help",
                arguments="[SUBCOMMAND]",
                about="this text, or more about one subcommand",
                call="help(eth.Session)",
                run=_help,
                words=(0, 1),
            ),
        )
    }
)
