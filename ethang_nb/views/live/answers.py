"""Answers: what a view may ask of its source, checked and answered with one reply each.

`stop` is done at once in whatever thread it comes. All else is done inline on the main thread, else by a worker
thread, so that nothing ever holds up a stop; acts have one of their own, since a cleanup may wait for a model's note
while people go on looking. Only acts change a record, and no answer enters a request.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ethang_nb.context.settings import Settings
from ethang_nb.context.timeline import Timeline
from ethang_nb.context.window import Levels
from ethang_nb.context.wording import preview
from ethang_nb.errors import EthangError, Misuse, Unknown
from ethang_nb.views.live.source import Source
from ethang_nb.views.live.whatif import as_run
from ethang_nb.views.live.wire import Send, parts, to_text

__all__ = ["ASKS", "Answers", "Asked"]

LONGEST_TEXT = 20_000  # ► characters that a view may send as one argument
LARGEST = 2**31  # ► above it a number is a slip
KINDS = ("constraint", "decision")

Asked = Mapping[str, Any]


class Answers:
    """The answers to one view. `send` takes the parts of each reply; `hello` is told the revision that it has."""

    def __init__(self, source: Source, send: Send, *, hello: Callable[[object], object]) -> None:
        self.source = source
        self._send, self._hello = send, hello

    def ask(self, message: object) -> None:
        """Answers what a view sent; whatever it is, nothing is raised."""
        if not isinstance(message, Mapping):
            self._refuse(
                None, Misuse(f"a view sent {preview(repr(message), 60)}, which is no ask; send an object")
            )
            return
        what = message.get("ask")
        if what == "hello":
            self._hello(message.get("rev"))
        elif what == "stop" or threading.current_thread() is threading.main_thread():
            self.answer(message)
        else:
            (_ACTING if what in ACTS else _LOOKING).put(_Job(self, message))

    def supersede(self, message: Asked) -> None:
        """A newer ask of the same kind has come before this one was begun."""
        self._refuse(message.get("id"), Misuse("superseded: a newer what-if has come"))

    def answer(self, message: Asked) -> None:
        """Answers here and now."""
        number, what = message.get("id"), message.get("ask")
        try:
            self._reply({"t": "reply", "id": number, "ok": True, "data": self._found(what, message)})
        except Exception as error:  # a fault of ours is said to the view too, as any other
            self._refuse(number, error)

    # ---- inside

    def _found(self, what: object, asked: Asked) -> Any:
        if not isinstance(what, str) or what not in ASKS:
            raise Unknown("ask", preview(str(what), 40), (*ASKS, "hello"))
        return ASKS[what](self.source, asked)

    def _refuse(self, number: object, error: Exception) -> None:
        said = " ".join(str(error).split())
        if not isinstance(error, EthangError):
            said = f"{type(error).__name__}: {said}"
        self._reply({"t": "reply", "id": number, "ok": False, "error": said})

    def _reply(self, reply: dict[str, Any]) -> None:
        if not isinstance(reply["id"], str | int | None):
            reply["id"] = None
        try:
            for part in parts(to_text(reply)):
                self._send(part)
        except Exception as error:  # the view is gone; whoever asked does not wait any more
            self.source.report(f"a view could not be answered: {type(error).__name__}: {error}")


# ---- the asks


def _stop(source: Source, _asked: Asked) -> dict[str, Any]:
    return {"done": source.stop()}


def _compact(source: Source, _asked: Asked) -> dict[str, Any]:
    return {"said": source.compact()}


def _reseed(source: Source, _asked: Asked) -> dict[str, Any]:
    return {"said": source.reseed()}


def _cool(source: Source, _asked: Asked) -> dict[str, Any]:
    return {"said": source.cool()}


def _pin(source: Source, asked: Asked) -> dict[str, Any]:
    kind = asked.get("kind", KINDS[0])
    if kind not in KINDS:
        raise Misuse(f"kind {preview(repr(kind), 40)} is no kind of pin; give constraint or decision")
    return {"said": source.pin(_text(asked, "text"), kind)}


def _unpin(source: Source, asked: Asked) -> dict[str, Any]:
    return {"said": source.unpin(_number(asked, "pin"))}


def _segment(source: Source, asked: Asked) -> dict[str, Any]:
    number = asked.get("segment")
    return source.segment(str(number) if type(number) is int else _text(asked, "segment"))


def _request(source: Source, asked: Asked) -> dict[str, Any]:
    step = _number(asked, "step")
    text, how = source.request(step)
    return {"step": step, "text": text, "how": how}


def _diff(source: Source, asked: Asked) -> dict[str, Any]:
    return source.diff(_number(asked, "index"))


def _whatif(source: Source, asked: Asked) -> dict[str, Any]:
    second = asked.get("second")
    if second is not None and not isinstance(second, Mapping):
        raise Misuse(f"second {preview(repr(second), 40)} is no setting; give an object, or leave it out")
    first = _moved(source, asked)
    return {"a": as_run(first), "b": None if second is None else as_run(_moved(source, second))}


def _moved(source: Source, asked: Asked) -> Timeline:
    """The source's replay under what is asked for; what is not named stays as it is."""
    window, levels, policy = asked.get("window"), asked.get("levels"), asked.get("policy")
    if window is not None and not isinstance(window, str):
        _number(asked, "window")
    if levels is not None and not isinstance(levels, list | tuple):
        raise Misuse(
            f"levels {preview(repr(levels), 40)} are no list; give [nudge, cleanup, landing] in per mille"
        )
    return source.replay().move(
        window=None if window is None else source.window(window),
        levels=None if levels is None else tuple(levels),
        policy=None if policy is None else source.policy(_text(asked, "policy")),
    )


def _policies(source: Source, _asked: Asked) -> list[dict[str, Any]]:
    with source.lock:
        state = source.live.state
    found = []
    for policy in source.policies():
        levels: Levels = Settings.of(state.settings.base, policy, state.ratio).levels
        found.append({"name": policy.name, "short": preview(policy.about, 120), "levels": asdict(levels)})
    return found


def _trace(source: Source, asked: Asked) -> dict[str, Any]:
    found = source.trace(_text(asked, "text"))
    places = [
        {
            "where": place.where,
            "title": place.title,
            "in_window": place.in_window,
            "excerpt": place.excerpt,
            "segment": place.segment,
            "address": place.address,
            "step": place.step,
            "left": [asdict(departure) for departure in place.left],
        }
        for place in found.places
    ]
    return {"text": found.text, "places": places}


def _read(source: Source, asked: Asked) -> dict[str, Any]:
    address = _text(asked, "address")
    return {"address": address, "text": source.read(address)}


ASKS: Mapping[str, Callable[[Source, Asked], Any]] = {
    "stop": _stop,
    "compact": _compact,
    "reseed": _reseed,
    "cool": _cool,
    "pin": _pin,
    "unpin": _unpin,
    "segment": _segment,
    "request": _request,
    "diff": _diff,
    "whatif": _whatif,
    "policies": _policies,
    "trace": _trace,
    "read": _read,
}

ACTS = ("compact", "reseed", "cool", "pin", "unpin")


def _text(asked: Asked, name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Misuse(f"{name} {preview(repr(value), 40)} is no text; give one that is not blank")
    if len(value) > LONGEST_TEXT:
        raise Misuse(f"{name} has {len(value):,} characters; give at most {LONGEST_TEXT:,}")
    return value


def _number(asked: Asked, name: str) -> int:
    value = asked.get(name)
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise Misuse(f"{name} {preview(repr(value), 40)} is no number here; give a whole one from 0 on")
    return value


# ---- the thread


class _Job:
    def __init__(self, answers: Answers, message: Asked) -> None:
        self.answers, self.message = answers, message

    def replaces(self, other: _Job) -> bool:
        """A what-if that waits is worth nothing once the same view asks another."""
        return (
            self.answers is other.answers and self.message.get("ask") == other.message.get("ask") == "whatif"
        )

    def do(self) -> None:
        self.answers.answer(self.message)

    def drop(self) -> None:
        self.answers.supersede(self.message)


class _Worker:
    """A daemon thread for all views of this process, started when it is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: deque[_Job] = deque()
        self._some = threading.Condition()
        self._thread: threading.Thread | None = None

    def put(self, job: _Job) -> None:
        with self._some:
            dropped = [other for other in self._jobs if job.replaces(other)]
            for other in dropped:
                self._jobs.remove(other)
            self._jobs.append(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._some.notify()
        for other in dropped:
            other.drop()

    def _run(self) -> None:
        while True:
            with self._some:
                while not self._jobs:
                    self._some.wait()
                job = self._jobs.popleft()
            job.do()
            del job  # nobody's view is kept while nothing is asked


_LOOKING, _ACTING = _Worker("ethang-views"), _Worker("ethang-acts")
