"""Handoff notes by rule: the reader as a summariser. It fills the headings that its prompt names, and only these.

Everything comes from the one user message: the extract's lines and the texts that leave. What the texts say to
do is never taken up; constraints come from the person's own lines alone. A prompt without headings gets what
it asks for: a short narration, which loses the numbers.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ethang_nb.context.counting import TokenCounter
from ethang_nb.providers.offline.admissions import ERROR, admits
from ethang_nb.providers.offline.grammar import Task, content_words, parse, prohibitions, sentences
from ethang_nb.providers.offline.names import forbids, normal, quoted, unquoted
from ethang_nb.providers.offline.pages import Page, page
from ethang_nb.providers.offline.passages import Passage, split
from ethang_nb.providers.offline.sources import LIST_ON
from ethang_nb.providers.offline.view import View
from ethang_nb.store.search import rank
from ethang_nb.tokens.registry import counter

__all__ = ["note"]

_NONE = "none"
_LONGEST_ITEM = 240  # ► characters; a person's own words are never cut
_NUMBERS = 12  # ► sentences with numbers, at most
_FULL_PER_MILLE = 900  # ► of the max output; a note that fills it to the brim gets cut

_LEAVING = re.compile(r"^=== leaving now.*$", re.MULTILINE)
_LINE = re.compile(r"^(TASK|USER|PIN|AGENT): |^(TURN) ")
_PIN_KIND = re.compile(r"^(constraint|decision)\s*:\s*", re.IGNORECASE)
_BINDS = re.compile(
    r"\b(?:never|do not|don['’]t|must|always|only|at most|no more than|at least)\b", re.IGNORECASE
)
_DECIDED = re.compile(r"\b(?:decided|decision|agreed|chose|chosen)\b", re.IGNORECASE)
_FAILED = re.compile(
    r"\b(?:error|failed|fails|could not|cannot|refused|no such|not found|unread)\b", re.IGNORECASE
)
_READ = re.compile(  # a read that failed has no such address
    r"\b(?P<address>file:(?P<path>\"(?:[^\"\\\n]|\\.)+\"|[^\n|:;,\]]+?)#L\d+(?:C\d+)?(?:-\d+)?(?:@[0-9a-f]+)?)"
)
_ORDER = re.compile(r"\W*(?:never|do not|don['’]t|you must|ignore|disregard)\b", re.IGNORECASE)
_LABEL = re.compile(r"\[((?:file:|spill://|log://)[^\n\]]+)\]\n?")
_LABEL_LINE = re.compile(r"^\[(?:file:[^\n]+@[0-9a-f]+|spill://\w+|log://\d+)\]$", re.MULTILINE)
_LISTED = re.compile(r"\[[\d,]+ files? in (.*?)\]\s*$")
_NUMBER = re.compile(r"\d[\d.,:/-]*")
_STRONG = re.compile(r"[A-Z]{2,}-?\d|\d{4}-\d{2}-\d{2}|\d{1,3}(?:,\d{3})+|[$€£%]|\d\.\d")
_WORD_LIMIT = re.compile(r"(?:at most|under|no more than|up to|within)\s+([\d,]+)\s+words", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Extract:
    """The user message of a note request, taken apart."""

    tasks: tuple[str, ...]
    said: tuple[str, ...]
    pins: tuple[str, ...]
    agent: tuple[str, ...]
    turns: tuple[str, ...]
    leaving: str

    @property
    def task(self) -> Task:
        return parse(self.tasks[-1]) if self.tasks else Task()


def note(view: View) -> str:
    """The note for a request that `wants_note`, within its max output and the word limit its prompt names."""
    extract = _extract("\n".join(item.text for item in view.of("task")))
    if not view.headings:
        return _narration(extract)
    words = _WORD_LIMIT.search(view.system)
    fits = _Room(
        counter=counter("reader"),
        tokens=view.max_output * _FULL_PER_MILLE // 1000,
        words=int(words[1].replace(",", "")) if words else None,
    )
    return _filled(view.headings, extract, fits)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """Whether a text is short enough, in tokens and, where the prompt says so, in words."""

    counter: TokenCounter
    tokens: int
    words: int | None

    def holds(self, text: str) -> bool:
        return not self.counter.over(text, self.tokens) and (
            self.words is None or len(text.split()) <= self.words
        )


def _narration(extract: _Extract) -> str:
    read = _read(extract)
    task = " ".join((extract.tasks or ("",))[-1].split()[:12])
    told = f"The agent works on the task “{task}…”." if task else "The agent works on a task."
    if not read:
        return f"{told} It has read nothing yet. Work goes on."
    return f"{told} It has read {_count(read)}, the last one {posixpath.basename(read[-1])}. Work goes on."


def _filled(headings: Sequence[str], extract: _Extract, room: _Room) -> str:
    """All headings, and under them what fits: first one item each in order of weight, then the rest."""
    wanted = [(heading, rule) for heading in headings for rule in [_rule(heading)] if rule]
    items = {heading: list(rule(extract)) for heading, rule in wanted}
    weight = {rule: at for at, rule in enumerate(_BY_WEIGHT)}
    order = [heading for heading, _ in sorted(wanted, key=lambda pair: weight[pair[1]])]
    kept: dict[str, list[str]] = {heading: [] for heading in headings}
    longest = max((len(found) for found in items.values()), default=0)
    for round_ in range(longest):
        for heading in order:
            if round_ < len(items[heading]):
                kept[heading].append(items[heading][round_])
                if not room.holds(_shown(headings, kept)):
                    kept[heading].pop()
    return _shown(headings, kept)


def _shown(headings: Sequence[str], kept: dict[str, list[str]]) -> str:
    bodies = ("\n".join(f"- {item}" for item in kept[heading]) or _NONE for heading in headings)
    return "\n".join(f"## {heading}\n{body}" for heading, body in zip(headings, bodies, strict=True))


# What stands under a heading


def _constraints(extract: _Extract) -> Iterator[str]:
    pinned = [_PIN_KIND.sub("", pin) for pin in extract.pins if not pin.lower().startswith("decision")]
    yield from pinned
    for text in (*extract.tasks, *extract.said):
        for sentence in sentences(text):
            if _BINDS.search(sentence) and not any(sentence in pin or pin in sentence for pin in pinned):
                yield sentence


def _decisions(extract: _Extract) -> Iterator[str]:
    yield from (_PIN_KIND.sub("", pin) for pin in extract.pins if pin.lower().startswith("decision"))
    yield from (_short(text) for text in extract.agent if _DECIDED.search(text))


def _files(extract: _Extract) -> Iterator[str]:
    """By folder: up to four names, or the first and the last of more."""
    folders: dict[str, list[str]] = {}
    for path in _read(extract):
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(quoted(name))
    for folder, names in folders.items():
        where = f" in {quoted(folder)}" if folder else ""
        if len(names) <= 4:
            yield f"{', '.join(names)}{where}"
        else:
            yield f"{names[0]} to {names[-1]}{where}, {_count(names)}"


def _state(extract: _Extract) -> Iterator[str]:
    read = _read(extract)
    if read and (on := _reads_on(extract, read[-1])):
        whole = f"{_count(read[:-1])} read, and " if read[:-1] else ""
        yield f"{whole}{quoted(read[-1])} in part, up to {on.upto}"
    elif read:
        yield f"{_count(read)} read, the last one {quoted(read[-1])}"
    if extract.agent:
        yield _short(f"last said: {extract.agent[-1]}")


def _next_steps(extract: _Extract) -> Iterator[str]:
    read, task = _read(extract), extract.task
    lists = [
        _names_in(source.path, extract) if source.folder else _Names(paths=(source.path,))
        for source in task.sources
    ]
    order = [path for names in lists for path in names.paths]
    if read and (on := _reads_on(extract, read[-1])):
        # What is still in the window is not in the extract, and may go further.
        yield f"read on in {quoted(read[-1])} at {on.where}, or after its newest page in the window"
    elif read and read[-1] in order:
        said = "\n".join((*extract.tasks, *extract.said, *extract.pins))
        never = prohibitions(said)
        left = [path for path in order[order.index(read[-1]) + 1 :] if not forbids(never, path)]
        if left:
            yield f"read {quoted(left[0])}"
        elif not all(names.whole for names in lists):
            yield f"go on with the source after {quoted(read[-1])}"
        elif _page_at(extract, _newest(extract, read[-1])) is None:
            yield f"read what may follow in {quoted(read[-1])}, then answer"
        else:
            yield "all sources are read: answer"
    elif read and task.sources:
        yield f"go on with the source after {quoted(read[-1])}"
    elif order:
        yield f"read {quoted(order[0])}"
    elif task.sources:
        yield f"list {task.sources[0].path}"


def _numbers(extract: _Extract) -> Iterator[str]:
    """Sentences with numbers: those that match the task, then those whose shape no other line has."""
    # Whoever wrote an order into a text wants it handed on.
    telling = (
        passage
        for passage in _passages(extract.leaving)
        if not (_ORDER.match(passage.text) or admits(passage.text))
    )
    found = [passage for passage in telling if re.search(r"\d", passage.text)]
    words = content_words(extract.task.question)
    ranked = rank([passage.words for passage in found], " ".join(words), limit=_NUMBERS)
    matching = [
        found[one.index] for one in sorted(ranked, key=lambda one: -one.coverage) if one.coverage >= 500
    ]
    shapes = Counter(_shape(passage.text) for passage in found)
    rare = [passage for passage in found if shapes[_shape(passage.text)] == 1 and passage not in matching]
    rare.sort(key=lambda passage: not _STRONG.search(passage.text))
    for passage in (matching + rare)[:_NUMBERS]:
        where = f" ({passage.where})" if passage.base else ""
        yield f"{_short(passage.text)}{where}"


def _questions(extract: _Extract) -> Iterator[str]:
    if extract.task.question:
        yield extract.task.question


def _failures(extract: _Extract) -> Iterator[str]:
    """What tools said that they could not, each with its turn, then what the agent said of failing."""
    turns = dict(turn.partition(" ")[::2] for turn in extract.turns)
    address = ""
    for line in extract.leaving.split("\n"):
        if match := _LABEL.fullmatch(line):
            address = match[1]
        elif line.startswith(ERROR):
            yield _short(f"{turns.get(address, 'a call')}: {line.removeprefix(ERROR).strip()}")
    yield from (_short(line) for line in extract.agent if _FAILED.search(line))


_Rule = Callable[[_Extract], Iterable[str]]
_BY_WEIGHT: tuple[_Rule, ...] = (
    _constraints,
    _numbers,
    _files,
    _next_steps,
    _questions,
    _decisions,
    _failures,
    _state,
)
_KEYWORDS: tuple[tuple[str, _Rule], ...] = (
    ("constraint", _constraints),
    ("decision", _decisions),
    ("file", _files),
    ("fail", _failures),
    ("state", _state),
    ("next", _next_steps),
    ("number", _numbers),
    ("amount", _numbers),
    ("question", _questions),
)


def _rule(heading: str) -> _Rule | None:
    """What fills a heading; nothing fills one that no rule knows, so it says none."""
    return next((rule for word, rule in _KEYWORDS if word in heading.lower()), None)


# What the extract holds


def _extract(text: str) -> _Extract:
    marker = _LEAVING.search(text)
    found: dict[str, list[str]] = {kind: [] for kind in ("TASK", "USER", "PIN", "AGENT", "TURN")}
    entries: list[str] | None = None
    for line in (text[: marker.start()] if marker else text).split("\n"):
        if match := _LINE.match(line):
            entries = found[match[1] or match[2]]
            entries.append(line[match.end() :])
        elif entries:
            entries[-1] += f"\n{line}"
    return _Extract(
        tasks=_stripped(found["TASK"]),
        said=_stripped(found["USER"]),
        pins=_stripped(found["PIN"]),
        agent=_stripped(found["AGENT"]),
        turns=_stripped(found["TURN"]),
        leaving=text[marker.end() :] if marker else "",
    )


def _stripped(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts if text.strip())


def _read(extract: _Extract) -> list[str]:
    """The files read, in the order of the turns, the newest reading of each."""
    paths: dict[str, None] = {}
    for turn in extract.turns:
        for found in _READ.finditer(turn):
            path = normal(unquoted(found["path"]))
            paths.pop(path, None)
            paths[path] = None
    return list(paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class _On:
    """Where a file that was read in part goes on, and how far it was read."""

    where: str
    upto: str


def _reads_on(extract: _Extract, path: str) -> _On | None:
    """Where the newest page of a file says that it goes on; None at its end, or where its text is not there."""
    newest = _page_at(extract, _newest(extract, path))
    if newest is None:
        return None
    if newest.part and newest.part.ref:
        return _On(where=newest.part.ref, upto=f"character {newest.part.last:,} of line {newest.start:,}")
    inside = newest.part and newest.start < newest.total
    on = newest.on or (newest.start + 1 if inside else 0)
    return _On(where=f"start={on}", upto=f"line {on - 1:,}") if on else None


def _newest(extract: _Extract, path: str) -> str:
    """The address of the newest page of a file."""
    found = (found for turn in reversed(extract.turns) for found in _READ.finditer(turn))
    return next((one["address"] for one in found if normal(unquoted(one["path"])) == path), "")


def _page_at(extract: _Extract, address: str) -> Page | None:
    """What the page at an address says of itself, where it is among the texts that leave."""
    if not address:
        return None
    _, _, text = f"\n{extract.leaving}".partition(f"\n[{address}]\n")
    following = _LABEL_LINE.search(text)
    return page((text[: following.start()] if following else text).rstrip("\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """A source's files, and whether these are all."""

    paths: tuple[str, ...]
    whole: bool = True


def _names_in(folder: str, extract: _Extract) -> _Names:
    """A folder's files by the pages of its list among the texts that leave."""
    lines = extract.leaving.split("\n")
    paths: set[str] = set()
    ends = []
    for at, head in enumerate(lines):
        if not ((match := _LISTED.match(head)) and normal(match[1]) == folder):
            continue
        names = list(
            takewhile(lambda line: line.strip() and not line.startswith(("[", "=")), lines[at + 1 :])
        )
        after = lines[at + 1 + len(names) : at + 2 + len(names)]
        ends.append(not (after and (LIST_ON.fullmatch(after[0]) or after[0].startswith("[…"))))
        plain = (unquoted(name) for name in names if not name.endswith("/"))
        paths |= {
            posixpath.normpath(posixpath.join(folder, name)) for name in plain if not name.endswith("/")
        }
    return _Names(
        paths=tuple(sorted(paths, key=lambda path: quoted(posixpath.basename(path)))), whole=any(ends)
    )


def _passages(leaving: str) -> Iterator[Passage]:
    """The sentences that leave, each with its place where a page's header above it tells."""
    for block in re.split(r"(?m)^(?=\[(?:file|spill|log):)", leaving):
        part, label = page(block), _LABEL.match(block)
        first = part.start if part else 1
        body = block.split("\n")[part.head if part else bool(label) :]
        address = part.address if part else label[1] if label else ""
        base = address.partition("#")[0]
        numbered = (
            (number, line) for number, line in enumerate(body, first) if not line.startswith(("[", "==="))
        )
        yield from split(numbered, base)


def _shape(text: str) -> str:
    return _NUMBER.sub("#", text.lower())


def _count(things: Sequence[object]) -> str:
    return f"{len(things)} file" if len(things) == 1 else f"{len(things)} files"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_ITEM else line[: _LONGEST_ITEM - 1] + "…"
