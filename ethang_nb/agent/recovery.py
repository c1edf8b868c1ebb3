"""Recovery: what a refused request teaches, as values: the window that is believed from now on, and what to try once.

The provider's own numbers are the best source there is. A limit below the window we took corrects it; one that is not
below it says that only our count was off. Nothing is sent or recorded here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from ethang_nb.context import kinds
from ethang_nb.context.fold import PHANTOM
from ethang_nb.context.replaying import JournalEntry
from ethang_nb.context.window import SMALLEST, Window
from ethang_nb.errors import Overflow

__all__ = [
    "SOURCE",
    "Corrections",
    "Lesson",
    "advice",
    "fault_data",
    "lesson",
    "note_room",
    "silent_lesson",
]

SOURCE = "overflow message"
"""Where a corrected window comes from; what it was taken for before stands after it."""
QUOTA = "quota from an overflow message"
OUTPUT = "most output from a refusal"
LESS = 900  # ► per mille of a note's request that its second try takes at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What an overflow teaches.

    `window`: the window from now on, None: as it was. `counted`: tokens of that very request as the provider counts
    them, at least; None: unknown. `room`: the output to ask for in sending the same request once more; None: a cleanup
    must come first. `notices`: what a person should know, one line each.
    """

    window: Window | None
    counted: int | None
    room: int | None
    notices: tuple[str, ...] = ()


class Corrections:
    """Which windows the model of a session was taken to have, and what its provider said of each.

    So a cell that names the same window again does not run into the same overflow again; one that names another is
    believed.
    """

    def __init__(self) -> None:
        self._of: dict[int, Window] = {}
        self._most_output: int | None = None

    def put_output(self, most: int) -> None:
        """The provider puts out no more tokens than `most`, whatever the window is."""
        self._most_output = most

    def put(self, taken: Window, window: Window) -> None:
        self._of[taken.total] = window

    def of(self, window: Window) -> Window:
        """The window that is to be taken where `window` is named."""
        taken = window
        # What was corrected once may have been corrected again. It never grows, so this comes to an end.
        while (known := self._of.get(taken.total)) not in (None, taken) and known.usable <= taken.usable:
            taken = known
        most = self._most_output
        return taken if most is None or taken.reserve <= most else _with_output(taken, most)

    def recall(self, entries: Iterable[JournalEntry], model: str) -> None:
        """What a record says of it, as far as it is about `model`."""
        asked = ""
        for entry in entries:
            if entry.kind == kinds.SETTINGS:
                asked = entry.data["model"]
            elif entry.kind == kinds.OVERFLOW and "window" in entry.data and asked == model:
                window = Window(**entry.data["window"])
                if entry.data["limits"] == "output":
                    self.put_output(window.reserve)
                else:
                    self._of[entry.data["taken"]] = window


def lesson(fault: Overflow, *, base: Window, hard: int, own: int, asked: int) -> Lesson:
    """The lesson of a refused request of `own` tokens by our count that asked for `asked` tokens of output.

    `base` is the window as it was taken, `hard` what fitted into a request under it.
    """
    if fault.limits == "output":
        return _output_lesson(fault, base, asked)
    window = _by_quota(fault, base) if fault.limits == "quota" else _corrected(fault, base)
    counted = _counted(fault)
    floor = hard if window is None else min(hard, window.hard)
    if counted is None and fault.limits == "window" and own < floor <= PHANTOM * own:
        counted = floor  # it did not fit, so the provider counts at least all that can be sent
    said = _said(fault, base, window)
    if not said and counted is not None and _counted(fault) is not None and counted > own:
        said = f"the provider counts {counted:,} tokens in a request where we count {own:,}; limits follow its count"
    room = _useful(fault, asked)
    if room is None and window is not None and _fits(fault, window, own, asked):
        room = window.reserve
    return Lesson(window=window, counted=counted, room=room, notices=(said,) if said else ())


def silent_lesson(fault: Overflow, *, base: Window) -> Lesson:
    """The lesson of a reply that shows that its request was cut, or that the window ended under it.

    Its report is on record already, and to ask for less output would bring the same answer again.
    """
    window = _corrected(fault, base)
    said = str(fault) if window is None else f"{fault}; from now on it is taken for {window.total:,}"
    return Lesson(window=window, counted=None, room=None, notices=(said,))


def _output_lesson(fault: Overflow, base: Window, asked: int) -> Lesson:
    """The window itself stays; less of it is kept for the answer, and the same request asks for no more than that."""
    most = fault.limit
    if most is None or not 1 <= most < asked:
        return Lesson(window=None, counted=None, room=None)
    window = _with_output(base, most)
    said = f"the provider puts out at most {most:,} tokens; {asked:,} were asked for"
    return Lesson(window=window, counted=None, room=window.reserve, notices=(said,))


def _with_output(window: Window, most: int) -> Window:
    """The window with no more kept for the answer than the provider puts out. No policy may ask for more again."""
    source = window.source if OUTPUT in window.source else f"{window.source}, {OUTPUT}"
    return replace(window, reserve=min(window.reserve, most), reserve_given=True, source=source)


def _counted(fault: Overflow) -> int | None:
    """The request's tokens by the provider's count. That of a quota has the output in it, and nobody knows how much."""
    if fault.limits != "window":
        return None
    if fault.room is not None and fault.limit is not None:
        return fault.limit - fault.room
    return fault.tokens


def _useful(fault: Overflow, asked: int) -> int | None:
    """► Half of the output that was asked for is still worth asking for; less would cut most answers off."""
    room = fault.room
    return (
        room if room is not None and fault.limits == "window" and asked > room >= max(1, asked // 2) else None
    )


def _fits(fault: Overflow, window: Window, own: int, asked: int) -> bool:
    """Whether the very same request fits the window as it is believed now, only because that keeps less for the answer.

    Only where the provider told its count: otherwise the request may be what is too long.
    """
    if fault.limits == "window":
        counted = _counted(fault)
        return counted is not None and counted <= window.hard
    if fault.tokens is None or fault.limit is None:
        return False
    read = fault.tokens - asked
    return own // 2 <= read <= fault.limit - window.reserve


def _corrected(fault: Overflow, base: Window) -> Window | None:
    """The window whose total is the provider's limit; None where that is no news, or no window at all.

    It is not known whether a limit is of the input alone. As the total it is safe either way: a request that counts
    on more would be refused again.
    """
    limit = fault.limit
    if limit is None or limit == base.max_input or not SMALLEST <= limit < base.total:
        return None
    kept = base.reserve_given and base.reserve * 2 <= limit
    by_rule = Window.of(limit, max_output=base.reserve).reserve
    return replace(
        base,
        total=limit,
        reserve=base.reserve if kept else by_rule,
        max_input=_below(base.max_input, limit),
        effective=_below(base.effective, limit),
        source=_source(base),
        reserve_given=kept,
    )


def _source(base: Window) -> str:
    """Where the corrected window comes from, and what stood there at first; one corrected again keeps that."""
    if base.source.startswith(SOURCE):
        return base.source
    return f"{SOURCE}; {base.total:,} was {'given' if base.source == 'given' else 'taken'}"


def _by_quota(fault: Overflow, base: Window) -> Window | None:
    """The window with room for no more, request and answer together, than the quota lets through at once."""
    limit = fault.limit
    if limit is None or limit >= base.total:
        return None
    reserve = Window.of(max(SMALLEST, limit), max_output=base.reserve).reserve
    effective = limit - reserve
    if effective < SMALLEST or (base.effective is not None and base.effective <= effective):
        return None
    source = base.source if QUOTA in base.source else f"{base.source}, {QUOTA}"
    return replace(base, reserve=reserve, effective=effective, source=source, reserve_given=True)


def _below(size: int | None, limit: int) -> int | None:
    return size if size is not None and size < limit else None


def _said(fault: Overflow, base: Window, window: Window | None) -> str:
    if window is None:
        return ""
    if fault.limits == "quota":
        return (
            f"the provider takes {fault.limit:,} tokens at once, answer included; from now on at most "
            f"{window.effective:,} are sent and {window.reserve:,} asked for"
        )
    return f"the provider says the window is {window.total:,} tokens; it was taken for {base.total:,} ({base.source})"


def advice(fault: Overflow, *, tools: bool = True) -> str:
    """What a person can do where a cleanup did not help. `tools`: whether there are tools to do without."""
    if fault.limit is None:
        return "give a smaller window"
    if fault.limits == "quota":
        return f"ask the provider for more than {fault.limit:,} tokens a minute, or take another model"
    fewer = ", fewer tools," if tools else ""
    return f"take a model with a window of more than {fault.limit:,} tokens{fewer} or a shorter task"


def fault_data(
    fault: Overflow, own: int, learnt: Lesson | None = None, taken: Window | None = None
) -> dict[str, Any]:
    """An overflow for the record: its text and numbers as far as they are known, and our own count of the request.

    With what it teaches of the window that was `taken`.
    """
    known = {"tokens": fault.tokens, "limit": fault.limit, "room": fault.room, "partial": fault.partial}
    known["usage"] = fault.usage
    data: dict[str, Any] = {"text": str(fault), "own": own, "limits": fault.limits}
    data |= {name: value for name, value in known.items() if value is not None}
    if learnt is not None and learnt.notices:
        data["notices"] = list(learnt.notices)
    if learnt is not None and learnt.window is not None and taken is not None:
        data |= {"taken": taken.total, "window": asdict(learnt.window)}
    return data


def note_room(fault: Overflow, *, tokens: int, prose: int) -> int:
    """Tokens, by our count, that a note's request may take after one of `tokens` was refused; 0 or less: none."""
    most = tokens * LESS // 1000
    if fault.limit is None:
        return min(most, tokens // 2)
    room = fault.limit - prose
    counted = _counted(fault)
    return min(most, room if not counted else room * tokens // max(counted, tokens))
