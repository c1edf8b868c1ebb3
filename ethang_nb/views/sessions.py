"""Sessions as text and HTML: one row each, with whatever of the known columns the rows carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from ethang_nb.views.excerpt import excerpt, rows_within
from ethang_nb.views.limits import ROWS
from ethang_nb.views.markup import Markup, el
from ethang_nb.views.numbers import count, grouped, percent
from ethang_nb.views.plain import Column, cells, line, table
from ethang_nb.views.stylesheet import output

__all__ = ["SessionLike", "html", "part", "text"]

ALLOWANCE = 35_000  # ► bytes of the table
PER_MILLE = frozenset({"fill", "p95"})
SHOWN = 60  # ► characters of any cell
WHERE = "eth.sessions()"
NONE: Mapping[str, str] = MappingProxyType({})


class SessionLike(Protocol):
    """One session of a record. Only the name is required; see `COLUMNS` for what else is drawn."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    field: str
    head: str
    width: int


COLUMNS = (
    _Known(field="name", head="session", width=22),
    _Known(field="running", head="state", width=14),
    _Known(field="model", head="model", width=18),
    _Known(field="policy", head="policy", width=10),
    _Known(field="steps", head="steps", width=6),
    _Known(field="events", head="events", width=8),
    _Known(field="tokens", head="tokens", width=10),
    _Known(field="fill", head="fill", width=8),
    _Known(field="p95", head="p95", width=8),
    _Known(field="bytes", head="kB", width=9),
)
"""What is drawn of a session, where its rows have it. No times: the same record always looks the same."""


def text(rows: Sequence[SessionLike], most: int = ROWS, *, states: Mapping[str, str] = NONE) -> str:
    """One line a session. `states` are words, by name, of who knows more of a session than its row says."""
    if not rows:
        return "No sessions in this record yet."
    known = _known(rows)
    shown = excerpt(rows, most)
    body = [_cells(row, known, states) for row in (*shown.head, *shown.tail)]
    columns = [
        Column(
            head=item.head,
            width=min(item.width, max(cells(item.head), *(cells(row[index]) for row in body))),
            align=">" if _counts(rows, item) else "<",
        )
        for index, item in enumerate(known)
    ]
    gap = [shown.gap(WHERE)] if shown.hidden else []
    return "\n".join([f"{count(len(rows), 'session')}:", *table(columns, body), *gap])


def part(
    rows: Sequence[SessionLike],
    *,
    most: int = ROWS,
    allowance: int = ALLOWANCE,
    states: Mapping[str, str] = NONE,
) -> Markup:
    """The table as a piece of a larger view."""
    known = _known(rows)
    numeric = [_counts(rows, item) for item in known]
    head = el(
        "tr",
        *(
            el("th", item.head, scope="col", class_="eth-n" if number else None)
            for item, number in zip(known, numeric, strict=True)
        ),
    )

    def draw(row: SessionLike) -> Markup:
        first, *rest = _cells(row, known, states)
        ends = [
            el("td", cell, class_="eth-n" if number else None)
            for cell, number in zip(rest, numeric[1:], strict=True)
        ]
        return el("tr", el("th", first, scope="row"), *ends)

    body = rows_within(
        rows,
        draw,
        lambda said: el("tr", el("td", said, colspan=len(known), class_="eth-dim")),
        where=WHERE,
        most=most,
        allowance=allowance,
    )
    return el("table", el("caption", count(len(rows), "session")), el("thead", head), el("tbody", body))


def html(rows: Sequence[SessionLike], *, states: Mapping[str, str] = NONE) -> str:
    """The sessions as a stored output."""
    body = part(rows, states=states) if rows else el("p", "No sessions in this record yet.")
    return output(body, label="Sessions")


def _known(rows: Sequence[SessionLike]) -> tuple[_Known, ...]:
    return tuple(item for item in COLUMNS if all(hasattr(row, item.field) for row in rows))


def _counts(rows: Sequence[SessionLike], item: _Known) -> bool:
    values: list[Any] = [getattr(row, item.field) for row in rows]
    return any(isinstance(value, int) and not isinstance(value, bool) for value in values)


def _cells(row: SessionLike, known: Sequence[_Known], states: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        line(states[row.name], SHOWN)
        if item.field == "running" and row.name in states
        else _cell(item.field, getattr(row, item.field))
        for item in known
    )


def _cell(field: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "open" if value else "closed"  # a record does not know whether its writer is at work
    if field == "bytes" and isinstance(value, int):
        return grouped(-(-value // 1_000))
    if isinstance(value, int):
        return percent(value) if field in PER_MILLE else grouped(value)
    return line(str(value), SHOWN)
