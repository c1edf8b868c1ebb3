"""The sessions of one notebook: which one a cell works in, what it asks of it, and where its settings came from.

A cell without --session works in the notebook's own session: the one called after the notebook, or the one that
--new last started. The line magic looks at the session of the last cell.

Only sessions that the magics opened are closed from here; one that was made in Python stays its maker's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from ethang_nb.agent.given import NO_TOOLS, chosen_tools
from ethang_nb.agent.limits import Limits
from ethang_nb.agent.opening import find_open, open_session, sessions, settings_of
from ethang_nb.agent.session import BUILT_IN, Session
from ethang_nb.agent.tool import Tool
from ethang_nb.config import NAMES, Name, Settings, Tables, check_model, settings
from ethang_nb.errors import CassetteMiss, EthangError, KeyMissing, Misuse, PathRefused, Unknown
from ethang_nb.notebook.naming import check_name
from ethang_nb.providers.registry import check
from ethang_nb.views.numbers import count

__all__ = ["HOW_TO_START", "Choice", "NotebookSessions"]

HOW_TO_START = (
    "no session in this notebook yet; start one with a cell: %%ethang --window 6000, and the task in the lines"
    " below"
)
RECORD, PYTHON = "the record", "Python"  # sources of settings, beside those of config

REACH: tuple[Name, ...] = ("summariser", "models", "cassette")
"""How a session reaches models beside its own; it is opened anew where one of these changes."""

Tools = dict[str, Any]
"""Tools by the name a cell gave them: a function or Tool of the notebook, or the name of a built-in one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a cell's flags ask of its session, None where they say nothing. `system` and `project` are texts.

    `steps` is the most that one run may take.
    """

    session: str | None = None
    new: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None
    project: str | None = None
    tools: tuple[str, ...] | None = None
    steps: int | None = None


@dataclass(slots=True, kw_only=True)
class _Open:
    """A session that is open here; `configured` is what %config said when a cell last used it.

    `resumed`: it came out of the record, and no cell has worked in it since.
    """

    session: Session
    ours: bool
    sources: dict[str, str]
    tools: Tools = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    configured: Mapping[str, Any] = field(default_factory=dict)
    resumed: bool = False


class NotebookSessions:
    """The sessions of a notebook called `name`; `own` is its own session, `current` that of the last cell.

    `configured()` gives what %config says, `namespace` holds the user's names. Nothing is read or made before
    the first magic is used.
    """

    def __init__(
        self, name: str, *, configured: Callable[[], Mapping[str, Any]], namespace: Mapping[str, Any]
    ) -> None:
        self.name = self.own = self.current = name
        self._configured, self._namespace = configured, namespace
        self._looked: _Open | None = None
        self._open: dict[str, _Open] = {}
        self._failed: dict[str, tuple[str, str | None, str]] = {}
        """The model and cassette that a cell asked for whose session could not begin, and the error's name."""

    # ---- what the line magic works on

    def shown(self, name: str | None = None) -> Session | None:
        """The session of that name, else the current one; None where the notebook has none yet.

        One that is only in the record, or open elsewhere, is opened to be looked at and no more: looking records
        nothing. Raises Unknown for a name nobody knows.
        """
        wanted = name or self.current
        found = self._at_hand(wanted)
        if found is not None:
            return found.session
        if wanted in self.names():
            return self._look(wanted)
        if name:
            raise Unknown("session", name, self.names())
        return None

    def acted_on(self, name: str | None = None) -> Session:
        """The same where there must be one. Raises Misuse that says how to start one."""
        found = self._found(name or self.current)
        if found is None and name:
            raise Unknown("session", name, self.names())
        if found is None:
            raise Misuse(HOW_TO_START)
        return found.session

    def running(self, name: str | None = None) -> Session | None:
        """The same session where it is open in this process and a run of it is going on. Opens nothing.

        Raises Unknown for a name nobody knows.
        """
        session = find_open(name or self.current)
        if session is None and name and name not in self.names():
            raise Unknown("session", name, self.names())
        return session if session is not None and session.running else None

    def states(self) -> Mapping[str, str]:
        """What this kernel knows of sessions beside their record: which are open here, and which are at work."""
        found = {row.name: find_open(row.name) for row in sessions() if row.running}
        return {
            name: "open elsewhere" if session is None else "running" if session.running else "open here"
            for name, session in found.items()
        }

    def sources(self, session: Session) -> Mapping[str, str]:
        """Where the model, window and policy of an open session came from."""
        found = self._known(session)
        return dict(found.sources) if found else dict.fromkeys(NAMES, PYTHON)

    def notices(self, session: Session) -> tuple[str, ...]:
        """What this notebook cannot give an open session back from its record."""
        found = self._known(session)
        return tuple(
            f"tool {name} is in the record but not in this notebook; define it and name it with --tools"
            for name in (found.lost if found else ())
        )

    @property
    def tables(self) -> Tables:
        """What %config and the project's file say of providers. Raises as `settings` does."""
        return settings({}, dict(self._configured())).providers

    def names(self) -> tuple[str, ...]:
        """The sessions that are recorded in the project folder or open here."""
        return tuple(dict.fromkeys([*(row.name for row in sessions() if row.events), *self._open]))

    # ---- what the cell magic runs in

    def for_cell(self, choice: Choice) -> Session:
        """The session a cell names, else the notebook's own, under the settings it asks for.

        What neither the flags nor a new %config name stays as the session has it; a new session takes the
        project's file, the environment and the defaults for it.
        """
        configured = dict(self._configured())
        wanted = settings(choice.settings, configured)
        _check_models(wanted)
        name = self._name(choice, wanted)
        given: dict[str, Any] = {
            key: value for key, value in choice.settings.items() if key in ("model", *REACH)
        }
        self._refuse_stand_in(name, choice, wanted)
        # A cassette plays from the beginning: what an earlier kernel recorded under this name is set aside.
        afresh = choice.new or (wanted.cassette is not None and self._at_hand(name) is None)
        try:
            found = None if afresh else self._found(name, given)
            found = self._go_on(found, choice, wanted) if found else self._start(name, choice, wanted)
        except EthangError as error:
            self._failed[self.own if choice.new else name] = (
                wanted.model,
                wanted.cassette,
                type(error).__name__,
            )
            raise
        self._failed.pop(name, None)
        found.configured = configured
        self._open[name] = found
        self.current = name
        if choice.new:
            self.own = name
        return found.session

    def resumed(self, session: Session) -> str:
        """What the first cell that goes on with an earlier kernel's record is told before it runs; "" for others."""
        found = self._known(session)
        if found is None or not found.resumed:
            return ""
        found.resumed = False
        steps = len(session.timeline)
        if not steps:
            return ""
        way = "--new" if session.name == self.own else "another --session"
        if session.given.cassette is not None:
            way = f"{way} and --cassette {session.given.cassette}"
        return (
            f"Session {session.name} goes on after {count(steps, 'step')} that an earlier kernel recorded; to start"
            f" afresh, give {way}."
        )

    def close(self) -> None:
        """Closes what the magics opened. What is recorded stays."""
        if self._looked is not None:
            self._looked.session.close()
            self._looked = None
        while self._open:
            _, found = self._open.popitem()
            if found.ours:
                found.session.close()

    # ---- inside

    def _name(self, choice: Choice, wanted: Settings) -> str:
        """The name the cell means. That of a new session with a cassette is the same at each Run All."""
        if not choice.new:
            return (choice.session or self.own).strip()
        taken = set(self.names())
        number, name = 1, self.name
        while name in taken and not (wanted.cassette is not None and self._replayable(name)):
            number += 1
            name = f"{self.name}-{number}"
        return name

    def _replayable(self, name: str) -> bool:
        """Whether a session is only in the record, was made with a cassette, and so may begin afresh under its name."""
        held = {row.name for row in sessions() if row.running}
        if name in self._open or name in held or find_open(name) is not None:
            return False
        return settings_of(name).get("cassette") is not None

    def _refuse_stand_in(self, name: str, choice: Choice, wanted: Settings) -> None:
        """Refuses a cell that nobody meant to run so, where the one that was to begin the session failed."""
        model, cassette, error = self._failed.get(name, (wanted.model, wanted.cassette, ""))
        if (model, cassette) == (wanted.model, wanted.cassette) or {"model", "cassette"} & set(
            choice.settings
        ):
            return
        if choice.new or self._at_hand(name) is not None or (cassette is None and name in self.names()):
            return
        raise Misuse(
            f"the cell that was to begin session {name} with {model[:80]} failed ({error}); run that one first, or say"
            f" here which model answers, as in --model {wanted.model[:80]}"
        )

    def _look(self, name: str) -> Session:
        """Opened anew at each look, so that what another kernel writes meanwhile is seen."""
        if self._looked is not None:
            self._looked.session.close()
        tools, lost = self._tools_again(settings_of(name)["tools"])
        session = open_session(name, look=True, tools=tuple(tools.values()))
        sources = dict.fromkeys(NAMES, RECORD)
        self._looked = _Open(session=session, ours=True, sources=sources, tools=tools, lost=lost)
        return session

    def _known(self, session: Session) -> _Open | None:
        """What is kept beside a session that is open here, or was opened to be looked at."""
        looked = self._looked
        return looked if looked is not None and looked.session is session else self._open.get(session.name)

    def _at_hand(self, name: str) -> _Open | None:
        """The session where it is open in this process: by a magic, or in Python."""
        found = self._open.get(name)
        if found is not None and not found.session.closed:
            return found
        self._open.pop(name, None)
        session = find_open(name)
        if session is None:
            return None
        self._open[name] = _Open(session=session, ours=False, sources=dict.fromkeys(NAMES, PYTHON))
        return self._open[name]

    def _found(self, name: str, given: Mapping[str, Any] = MappingProxyType({})) -> _Open | None:
        """The session where it is open here, or from now on out of the record.

        `given`, a model or a cassette, goes on with it where what is recorded cannot be had any more.
        """
        found = self._at_hand(name)
        if found is not None:
            return found
        if name in self.names():
            tools, lost = self._tools_again(settings_of(name)["tools"])
            try:
                session = open_session(name, tools=tuple(tools.values()))
            except (PathRefused, KeyMissing, CassetteMiss):
                if not given:
                    raise
                session = open_session(name, tools=tuple(tools.values()), **given)
            sources = dict.fromkeys(NAMES, RECORD)
            found = _Open(session=session, ours=True, sources=sources, tools=tools, lost=lost, resumed=True)
        else:
            return None
        self._open[name] = found
        return found

    def _start(self, name: str, choice: Choice, wanted: Settings) -> _Open:
        check_name(name)
        tools = self._tools(choice.tools or ())
        session = Session(
            wanted.model,
            name=name,
            window=wanted.window,
            policy=wanted.policy,
            system=choice.system,
            project=choice.project,
            tools=tuple(tools.values()),
            limits=None if choice.steps is None else Limits(steps=choice.steps),
            providers=self._providers(),
            summariser=wanted.summariser,
            models=wanted.models,
            cassette=wanted.cassette,
        )
        return _Open(session=session, ours=True, sources=dict(wanted.sources), tools=tools)

    def _go_on(self, found: _Open, choice: Choice, wanted: Settings) -> _Open:
        session = found.session
        asked = {name: wanted.sources[name] for name in NAMES if _asks(name, wanted, found)}
        changes: dict[str, Any] = {name: getattr(wanted, name) for name in asked}
        rebuilt: dict[str, Any] = {}
        if changes.get("model", session.model) != session.model:
            # A window that was the other model's own says nothing about this one's.
            own = {"window": None} if session.window.source != "given" else {}
            rebuilt |= {**own, "model": changes["model"]}
        changes.pop("model", None)
        given = {name: changes.pop(name) for name in REACH if name in changes}
        rebuilt |= {name: value for name, value in given.items() if value != getattr(session.given, name)}
        # A function that the notebook defined anew is the one that counts.
        known = found.tools if choice.tools is None else {}
        tools = known | self._tools(choice.tools or [name for name in known if name in self._namespace])
        if tools != found.tools:
            rebuilt["tools"] = tuple(tools.values())
        texts = {"system": choice.system, "project": choice.project}
        now = {"system": session.live.system, "project": session.live.project}
        rebuilt |= {name: text for name, text in texts.items() if text is not None and text != now[name]}
        if rebuilt:
            found = self._reopened(found, rebuilt | changes)
        elif changes:
            session.change(**changes)
        if choice.steps is not None:
            _limit(found.session, choice.steps)
        found.sources |= asked
        found.tools = tools
        return found

    def _providers(self) -> Tables | None:
        """The tables that %config gives; those of the project's file every session reads itself."""
        return self._configured().get("providers")

    def _reopened(self, found: _Open, changes: Mapping[str, Any]) -> _Open:
        """The same session once more, so that its record goes on with another model, other tools or texts."""
        session = found.session
        if not found.ours:
            raise Misuse(
                f"session {session.name} was opened in Python, where its {', '.join(changes)} can be changed; close it"
                " there, or take another name with --session"
            )
        session.change()  # raises SessionBusy
        session.close()
        kept: dict[str, Any] = {"tools": tuple(found.tools.values()), "limits": session.limits}
        again = open_session(session.name, session.root, **(kept | dict(changes)))
        lost = () if "tools" in changes else found.lost
        return _Open(session=again, ours=True, sources=found.sources, lost=lost, resumed=found.resumed)

    def _tools(self, names: Sequence[str]) -> Tools:
        """The tools of these names: functions of the notebook by variable or tool name, else built-in ones."""
        named = {value.name: value for value in self._namespace.values() if isinstance(value, Tool)}
        found: Tools = {}
        for name in names:
            value = self._namespace.get(name, named.get(name))
            if name in BUILT_IN or name == NO_TOOLS:
                found[name] = name
            elif isinstance(value, Tool) or (callable(value) and not isinstance(value, type)):
                found[name] = value
            else:
                raise Unknown("tool", name, (*BUILT_IN, NO_TOOLS, *named))
        if NO_TOOLS in found:
            chosen_tools(tuple(found.values()), ())  # before a session is closed for it
        return found

    def _tools_again(self, names: Sequence[str]) -> tuple[Tools, tuple[str, ...]]:
        """The recorded tools that this notebook has, and the names of those it has not."""
        found: Tools = {}
        lost: list[str] = []
        for name in names:
            try:
                found |= self._tools([name])
            except Unknown:
                lost.append(name)
        return ({} if tuple(found) == BUILT_IN else found), tuple(lost)


def _check_models(wanted: Settings) -> None:
    """Raises Unknown or Misuse for a model id that no provider can be made of, with the place it stands in."""
    find = partial(check, tables=wanted.providers)
    check_model(wanted.model, find, wanted.sources["model"])
    if wanted.summariser:
        check_model(wanted.summariser, find, wanted.sources["summariser"], "summariser")
    for model in wanted.models:
        check_model(model, find, wanted.sources["models"], "models")


def _asks(name: str, wanted: Settings, found: _Open) -> bool:
    """Whether a flag, or %config in new words, asks for this setting of an open session."""
    source, before = wanted.sources[name], found.configured.get(name)
    new = tuple(before) if isinstance(before, list) else before
    return source == "argument" or (source == "%config" and new != getattr(wanted, name))


def _limit(session: Session, steps: int) -> None:
    """The most steps of the runs to come. Raises SessionBusy: a run that is going on keeps its limit."""
    session.change()
    with session.lock:
        session.limits = replace(session.limits, steps=steps)
