"""Ledger: the segments of a conversation as columns of integers, append-only, with prefix sums.

A state looks at the first `n` rows of it and never beyond, so states that follow each other share one ledger and
an append costs nothing but itself. Results are kept per class (how they can be had again) in order of age: what
collapses is then always the front of a class, and its end is found by bisection.
"""

from __future__ import annotations

from array import array
from typing import Literal, NamedTuple

from ethang_nb.context.messages import AGAINS, PASSING

__all__ = ["CLASSES", "FORMS", "KINDS", "Form", "Ledger", "Result", "Row", "RowKind"]

RowKind = Literal["user", "assistant", "turn", "memory", "pin", "nudge", "notice"]
KINDS: tuple[RowKind, ...] = ("user", "assistant", "turn", "memory", "pin", "nudge", "notice")
Form = Literal["full", "spilled", "stub", "shrunk", "squeezed"]
"""How a result stands in the window: as it came, cut on entry, as its one line, shrunk or squeezed in place."""
FORMS: tuple[Form, ...] = ("full", "spilled", "stub", "shrunk", "squeezed")
CLASSES = range(len(AGAINS))
"""How a result can be had again, as the place in AGAINS: also the order in which results collapse."""
_KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_FORM_CODES = {form: code for code, form in enumerate(FORMS)}


class Result(NamedTuple):
    """One tool result: its tokens now, those of its one line, its class, its form.

    `squeezed`: tokens it would take squeezed, 0 where that was not worked out.
    """

    tokens: int
    stub: int
    again: int
    form: Form = "full"
    squeezed: int = 0


class Row(NamedTuple):
    """One segment. `base` is what it takes without results; `open` how many calls still lack one."""

    id: int
    kind: RowKind
    base: int
    exchange: int
    results: tuple[Result, ...] = ()
    open: int = 0
    task: bool = False

    @property
    def tokens(self) -> int:
        return self.base + sum([result.tokens for result in self.results])

    @property
    def passing(self) -> bool:
        """A nudge or notice: it does not count among the segments that stay, and goes first of all."""
        return self.kind in PASSING


class Column:
    """The results of one class, oldest first; `saved[j]` is what collapsing the first j of them saves."""

    __slots__ = ("form", "index", "row", "saved", "squeezed", "stub", "tokens")

    def __init__(self) -> None:
        self.row = array("q")
        self.index = array("H")
        self.tokens = array("q")
        self.stub = array("H")
        self.form = bytearray()
        self.saved = array("q", (0,))
        self.squeezed: dict[int, int] = {}

    def push(self, row: int, index: int, result: Result) -> None:
        if result.squeezed:
            self.squeezed[len(self.row)] = result.squeezed
        self.row.append(row)
        self.index.append(index)
        self.tokens.append(result.tokens)
        self.stub.append(result.stub)
        self.form.append(_FORM_CODES[result.form])
        saves = result.tokens - result.stub
        self.saved.append(self.saved[-1] + max(0, saves))

    def until(self, count: int) -> Column:
        """A copy of the first `count`."""
        copy = Column()
        copy.row, copy.index = self.row[:count], self.index[:count]
        copy.tokens, copy.stub, copy.form = self.tokens[:count], self.stub[:count], self.form[:count]
        copy.saved = self.saved[: count + 1]
        copy.squeezed = {at: tokens for at, tokens in self.squeezed.items() if at < count}
        return copy


class Ledger:
    """Columns of rows and, per class, of results. `sums[i]` is what the first i rows took as they entered."""

    __slots__ = ("exchange", "kind", "results", "starts", "sums", "task", "upto", "user")

    def __init__(self) -> None:
        self.kind = bytearray()
        self.sums = array("q", (0,))
        self.exchange = array("q")
        self.user = array("q")
        """The newest user message up to this row, -1 before any."""
        self.task = array("q")
        """The task in force at this row, -1 before any."""
        self.starts = array("q", (0,))
        """First row of each exchange; what precedes the first user message is exchange 0."""
        self.results = (Column(), Column(), Column())
        self.upto = (array("q", (0,)), array("q", (0,)), array("q", (0,)))
        """Per class: how many results the first i rows hold."""

    def __len__(self) -> int:
        return len(self.kind)

    def push(self, n: int, row: Row, *, user: int, task: int) -> Ledger:
        """The ledger whose first n rows are these and whose row n is `row`: this one, or a copy where it went on."""
        if len(self.kind) > n and self._holds(n, row, user, task):
            return self
        ledger = self if len(self.kind) == n else self.until(n)
        columns, tokens = ledger.results, row.base
        for index, result in enumerate(row.results):
            columns[result.again].push(n, index, result)
            tokens += result.tokens
        ledger.kind.append(_KIND_CODES[row.kind])
        ledger.sums.append(ledger.sums[-1] + tokens)
        ledger.exchange.append(row.exchange)
        ledger.user.append(user)
        ledger.task.append(task)
        if row.exchange == len(ledger.starts):
            ledger.starts.append(n)
        for upto, column in zip(ledger.upto, columns, strict=True):
            upto.append(len(column.form))
        return ledger

    def _holds(self, n: int, row: Row, user: int, task: int) -> bool:
        """Whether row n stands there already, just as it is: another state that went on from here put it there."""
        entered = self.entered(n)
        return (entered.kind, entered.base, entered.exchange, entered.results) == (
            row.kind,
            row.base,
            row.exchange,
            row.results,
        ) and (self.user[n], self.task[n]) == (user, task)

    def until(self, n: int) -> Ledger:
        """A copy of the first n rows, to go another way from there."""
        copy = Ledger()
        copy.kind, copy.sums = self.kind[:n], self.sums[: n + 1]
        copy.exchange, copy.user, copy.task = self.exchange[:n], self.user[:n], self.task[:n]
        copy.starts = self.starts[: 1 + (copy.exchange[-1] if n else 0)]
        copy.upto = (self.upto[0][: n + 1], self.upto[1][: n + 1], self.upto[2][: n + 1])
        copy.results = (
            self.results[0].until(self.upto[0][n]),
            self.results[1].until(self.upto[1][n]),
            self.results[2].until(self.upto[2][n]),
        )
        return copy

    def entered(self, row: int, *, open: int = 0, task: bool = False) -> Row:  # noqa: A002 - the field's name
        """Row `row` as it entered."""
        found: list[tuple[int, Result]] = []
        for again in CLASSES:
            column = self.results[again]
            places = range(self.upto[again][row], self.upto[again][row + 1])
            found += [(column.index[at], self.result(again, at)) for at in places]
        results = tuple(result for _, result in sorted(found))
        tokens = self.sums[row + 1] - self.sums[row]
        return Row(
            id=row, kind=KINDS[self.kind[row]], base=tokens - sum(result.tokens for result in results),
            exchange=self.exchange[row], results=results, open=open, task=task,
        )  # fmt: skip

    def result(self, again: int, at: int) -> Result:
        """Result `at` of a class as it entered."""
        column = self.results[again]
        return Result(
            column.tokens[at], column.stub[at], again, FORMS[column.form[at]], column.squeezed.get(at, 0)
        )
