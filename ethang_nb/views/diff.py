"""Diff of one cleanup: what left the window, what stands for it, and which facts survived, were lost or invented."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ethang_nb.context.diffing import UPPER_BOUND
from ethang_nb.context.plan import SHOWN_ACTS, Price
from ethang_nb.context.snapshot import Diff, Fact, Left
from ethang_nb.views.excerpt import excerpt, fitting, rows_within, size
from ethang_nb.views.limits import ADDRESS, BODY_BYTES, FACTS, OPEN_ROWS, PREVIEW, ROWS, TITLE
from ethang_nb.views.markup import Markup, address, breakable, el, join, lines
from ethang_nb.views.numbers import count, grouped, percent, tokens
from ethang_nb.views.plain import Column, clip, indented, line, opened, table, visible
from ethang_nb.views.plan import price
from ethang_nb.views.stylesheet import output

__all__ = ["BOUND", "gone", "headline", "html", "part", "passing", "sections", "survival", "text"]

BOUND = UPPER_BOUND
NUDGE = "[context pressure]"  # how its text begins
ALLOWANCE = 12_000  # ► bytes of the list of what left, in an output of its own
HEADINGS = 16  # ► headings of a note that are shown; our prompts have eight
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")
_SIGNS = {"kept": "✓", "lost": "✕", "invented": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """One heading of a note with the text under it."""

    head: str
    body: str


def headline(diff: Diff) -> str:
    """Where it happened and how far it came, in one sentence."""
    forced = ", forced" if diff.forced else ""
    change = f"{grouped(diff.before)} → {tokens(diff.after)}"
    fill = f"{percent(diff.fill_before)} → {percent(diff.fill_after)} full"
    return f"{line(diff.outcome, 40)} at step {grouped(diff.step)}{forced}: {change}, {fill}"


def gone(diff: Diff) -> str:
    """What left in one line: "left the window: 3 segments and the nudge, 1,395 tokens"."""
    if not diff.left:
        return "nothing left the window"
    taken = passing(diff)
    segments = len(diff.left) - sum(item.how == "remove" for item in diff.left)
    named = " and ".join(filter(None, [count(segments, "segment") if segments or not taken else "", taken]))
    return f"left the window: {named}, {tokens(sum(item.tokens for item in diff.left))}"


def passing(diff: Diff) -> str:
    """What was only there until the next landing: "the nudge", "3 notices"; "" where there was nothing."""
    taken = [item for item in diff.left if item.how == "remove"]
    if len(taken) == 1:
        return "the nudge" if taken[0].title.startswith(NUDGE) else "a notice"
    return count(len(taken), "notice") if taken else ""


def _stands(diff: Diff) -> str:
    """What stands for it in one line, with the note's reference, author and generation."""
    if not diff.note_tokens and not diff.note:
        return "no note stands for it; one line each, with its address"
    said = f"stands for it: a handoff note of {tokens(diff.note_tokens)}"
    if diff.generation:
        said += f", generation {grouped(diff.generation)}"
    if diff.note_author:
        said += f", written by {line(diff.note_author, 60)}"
    return said + (f" ({line(diff.note_reference, 60)})" if diff.note_reference else "")


def survival(diff: Diff) -> str:
    """How many facts survived, were lost or were invented."""
    return ", ".join(f"{grouped(len(diff.of(fate)))} {fate}" for fate in ("kept", "lost", "invented"))


def _told(fact: Fact) -> str:
    """Where a fact is now, in words that end before its address or place."""
    return {"kept": "in the", "lost": "read it again at", "invented": "not in the record, but in the"}[
        fact.fate
    ]


def _paid(cost: Price) -> str:
    """Its price, and what the next call really read from the provider's cache where the provider said so."""
    if cost.served is None:
        return price(cost)
    return f"{price(cost)} Served from the cache: {grouped(cost.served)} of {grouped(cost.prefix)} predicted."


def text(diff: Diff) -> str:
    """The diff for a terminal of 80 columns: left, note, facts."""
    said = indented(opened(headline(diff)) + ".", "")
    said += indented(line(diff.reason, 400), "") if diff.reason else []
    said += ["", opened(gone(diff)), *_text_left(diff.left)]
    said += ["", *indented(opened(_stands(diff)), "")]
    said += [f"  | {own}".rstrip() for own in _wrapped(diff.note)]
    if diff.facts:
        said += ["", f"Facts: {survival(diff)}.", *_text_facts(diff), *indented(BOUND, "")]
    if diff.price:
        said += ["", *indented(_paid(diff.price), "")]
    if diff.digest:
        said.append(f"digest {line(diff.digest, 80)}")
    return "\n".join(said)


def part(
    diff: Diff, *, whole_note: int = 0, facts: int = FACTS, rows: int = ROWS, allowance: int = ALLOWANCE
) -> Markup:
    """The diff as a piece of a larger view, in two columns.

    `whole_note` is how many characters of the note are shown; 0 is a preview of each heading, for what a
    notebook stores.
    """
    left = el(
        "div",
        el("p", gone(diff), class_="eth-dim"),
        _left_list(diff.left, rows, allowance),
        class_="eth-side",
    )
    note = el(
        "div", el("p", _stands(diff), class_="eth-dim"), *_note(diff.note, whole_note), class_="eth-side"
    )
    return lines(
        [
            el("p", line(diff.reason, 400)) if diff.reason else None,
            el("div", left, note, class_="eth-two"),
            *(_facts(diff, facts) if diff.facts else []),
            el("p", _paid(diff.price), class_="eth-dim") if diff.price else None,
            el("p", "digest ", el("code", line(diff.digest, 80)), class_="eth-dim") if diff.digest else None,
        ]
    )


def html(diff: Diff) -> str:
    """The diff as a stored output: the headline, and the rest in `<details>`, open where it is short."""
    said = el("p", el("strong", opened(headline(diff))), f". Facts: {survival(diff)}." if diff.facts else ".")
    body = fitting((part(diff, facts=most) for most in (FACTS, 3, 0)), BODY_BYTES - size(said))
    short = len(diff.left) <= OPEN_ROWS
    box = el("details", el("summary", "What left, and what stands for it"), body, open=short)
    return output(said, box, label="Diff of a cleanup")


def sections(note: str) -> tuple[_Section, ...]:
    """A note by its headings; text before the first heading has the heading ""."""
    found: list[_Section] = []
    head, body = "", []
    for own in note.splitlines():
        match = _HEADING.match(own)
        if match is None:
            body.append(own)
            continue
        found.append(_Section(head=head, body="\n".join(body).strip()))
        head, body = match.group(1), []
    found.append(_Section(head=head, body="\n".join(body).strip()))
    return tuple(item for item in found if item.head or item.body)


def _left_list(left: Sequence[Left], rows: int, allowance: int) -> Markup:
    items = rows_within(
        left,
        _left_item,
        lambda said: el("li", said, class_="eth-dim"),
        where="diff.left",
        most=rows,
        allowance=allowance,
    )
    return el("ul", items)


def _left_item(item: Left) -> Markup:
    where = address(item.address) or "no address"
    return el(
        "li", breakable(line(item.title, TITLE)), f", {tokens(item.tokens)}, {SHOWN_ACTS[item.how]} · ", where
    )


def _note(note: str, whole: int) -> list[Markup]:
    drawn: list[Markup] = []
    spent = 0
    for item in sections(note)[:HEADINGS]:
        room = max(0, whole - spent) if whole else PREVIEW
        body = visible(item.body[:room])[:room]
        spent += len(body)
        rest = max(0, len(item.body) - room)
        if item.head:
            # No heading element: JupyterLab would list it in the notebook's table of contents.
            drawn.append(el("p", el("strong", line(item.head, 80))))
        drawn.append(el("pre", body + (f"… {count(rest, 'more character')}; see diff.note" if rest else "")))
    return drawn


def _facts(diff: Diff, most: int) -> list[Markup]:
    """Kept on the left; invented and lost on the right, the graver first."""
    columns = [
        el("div", *(_fact_list(diff.of(fate), most) for fate in fates))
        for fates in (("kept",), ("invented", "lost"))
    ]
    return [el("p", f"Facts: {survival(diff)}. {BOUND}"), el("div", *columns, class_="eth-two")]


def _fact_list(facts: Sequence[Fact], most: int) -> Markup | None:
    """The first `FACTS`, and up to `most` of them in all: the rest is folded."""
    if not facts:
        return None
    shown = excerpt(facts, most, first=most)
    items = [_fact_item(fact) for fact in shown.head]
    if shown.hidden:
        items.append(el("li", shown.gap(f"diff.of({facts[0].fate!r})"), class_="eth-dim"))
    if len(items) <= FACTS + 1:
        return el("ul", lines(items))
    rest = len(facts) - FACTS
    folded = el(
        "details", el("summary", f"{grouped(rest)} more {facts[0].fate}"), el("ul", lines(items[FACTS:]))
    )
    return join(el("ul", lines(items[:FACTS])), folded)


def _fact_item(fact: Fact) -> Markup:
    fate = el("span", f"{_SIGNS[fact.fate]} {fact.fate}", class_=f"eth-{fact.fate}")
    return el("li", fate, " ", *_fact(fact))


def _fact(fact: Fact) -> tuple[Markup | str, ...]:
    place = (address(fact.where) if fact.fate == "lost" else None) or line(fact.where, ADDRESS)
    return (el("code", line(fact.text, 80)), f" {_told(fact)} ", place)


def _text_left(left: Sequence[Left]) -> list[str]:
    columns = (Column(head="", width=9), Column(head="", width=54), Column(head="", width=9, align=">"))
    shown = excerpt(left, ROWS)
    said: list[str] = []
    for item in shown.head:
        said += _text_left_rows(item, columns)
    if shown.hidden:
        said.append("  " + shown.gap("diff.left"))
    for item in shown.tail:
        said += _text_left_rows(item, columns)
    return said


def _text_left_rows(item: Left, columns: Sequence[Column]) -> list[str]:
    row = table(columns, [(SHOWN_ACTS[item.how], line(item.title, TITLE), grouped(item.tokens))])[1:]
    return [*row, " " * 13 + (line(item.address, ADDRESS) or "no address")]


def _text_facts(diff: Diff) -> list[str]:
    said: list[str] = []
    for fate in ("invented", "lost", "kept"):
        facts = diff.of(fate)
        shown = excerpt(facts, FACTS, first=FACTS)
        said += [
            f"  {_SIGNS[fate]} {fate:<8}  {line(fact.text, 80)}  {_told(fact)} {line(fact.where, ADDRESS)}"
            for fact in shown.head
        ]
        if shown.hidden:
            said.append("  " + shown.gap(f"diff.of({fate!r})"))
    return said


def _wrapped(note: str) -> list[str]:
    cut = clip(note, 12_000)
    return indented(visible(cut), "", 76) if cut else []
