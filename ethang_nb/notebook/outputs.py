"""Outputs: the values that magics return where no view of its own exists. Each draws itself as text and HTML."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ethang_nb._show import Shown
from ethang_nb.context.snapshot import Pin
from ethang_nb.store.record import SessionRow

__all__ = ["Line", "Output", "Pins", "Rows", "Sessions", "Several"]

_WHOLE = "white-space:nowrap"  # a name that is to be typed stands in one line


class Output(Shown):
    """A value that draws itself."""

    __slots__ = ()

    @abstractmethod
    def text(self) -> str: ...

    @abstractmethod
    def html(self) -> str: ...

    def _render(self, form: str) -> str:
        return str(getattr(self, form)())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Line(Output):
    """One sentence."""

    said: str

    def text(self) -> str:
        from ethang_nb.views.plain import line

        return line(self.said)

    def html(self) -> str:
        from ethang_nb.views.markup import el

        return el("p", self.said)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Several(Output):
    """Values under one another, each behind a heading."""

    parts: tuple[tuple[str, Shown], ...]

    def text(self) -> str:
        return "\n\n".join(f"{heading}\n{value}" for heading, value in self.parts)

    def html(self) -> str:
        from ethang_nb.views.markup import Markup, el, join

        # What a view of ours returns is markup already.
        return join(
            *(
                join(el("p", el("strong", heading)), Markup(value._repr_html_()))
                for heading, value in self.parts
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Pins(Output):
    """The pins of a session, lifted ones included."""

    pins: tuple[Pin, ...]

    def text(self) -> str:
        from ethang_nb.views import pins

        return pins.text(self.pins)

    def html(self) -> str:
        from ethang_nb.views import pins

        return pins.html(self.pins)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sessions(Output):
    """The sessions of a project folder; `states` says of some, by name, what their rows cannot know."""

    rows: tuple[SessionRow, ...]
    states: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        from ethang_nb.views import sessions

        return sessions.text(self.rows, states=self.states)

    def html(self) -> str:
        from ethang_nb.views import sessions

        return sessions.html(self.rows, states=self.states)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Rows(Output):
    """A small table of words under a title; the first cell of a row names it."""

    title: str
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def text(self) -> str:
        from ethang_nb.views.plain import WIDTH, cells, indented, line, pad

        wide = max((cells(row[0]) for row in self.rows), default=0)
        said = [line(self.title)]
        for name, *rest in self.rows:
            first, *more = indented("\n".join(map(line, rest)), " " * (wide + 4), WIDTH)
            said += [f"  {pad(line(name), wide)}  {first.strip()}".rstrip(), *more]
        return "\n".join([*said, *(item for note in self.notes for item in indented(line(note), "", WIDTH))])

    def html(self) -> str:
        from ethang_nb.views.markup import el, join
        from ethang_nb.views.stylesheet import output

        drawn: list[Any] = [
            el("tr", el("th", name, scope="row", style=_WHOLE), *(el("td", cell) for cell in rest))
            for name, *rest in self.rows
        ]
        table = el("table", el("caption", self.title), el("tbody", join(*drawn)))
        return output(table, *(el("p", note) for note in self.notes), label=self.title)
