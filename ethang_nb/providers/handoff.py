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

from ethang_nb.context.counting import TokenCounter
from ethang_nb.providers.grammar import Task, content_words, parse, prohibitions, sentences
from ethang_nb.providers.names import forbids, normal
from ethang_nb.providers.pages import page
from ethang_nb.providers.passages import Passage, split
from ethang_nb.providers.view import View
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
_FAILED = re.compile(r"\b(?:error|failed|fails|could not|cannot|refused|no such|not found)\b", re.IGNORECASE)
_READ = re.compile(r"\bfile:([^\n|:;,\]]+?)#L\d")  # a read that failed has no such address
_ORDER = re.compile(r"\W*(?:never|do not|don['’]t|you must|ignore|disregard)\b", re.IGNORECASE)
_LABEL = re.compile(r"\[((?:file:|spill://|log://)[^\n\]]+)\]\n?")
_ERROR = "[error] "
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
        folders.setdefault(folder, []).append(name)
    for folder, names in folders.items():
        where = f" in {folder}" if folder else ""
        if len(names) <= 4:
            yield f"{', '.join(names)}{where}"
        else:
            yield f"{names[0]} to {names[-1]}{where}, {_count(names)}"


def _state(extract: _Extract) -> Iterator[str]:
    read = _read(extract)
    if read:
        yield f"{_count(read)} read, the last one {read[-1]}"
    if extract.agent:
        yield _short(f"last said: {extract.agent[-1]}")


def _next_steps(extract: _Extract) -> Iterator[str]:
    read, task = _read(extract), extract.task
    order = [
        path for source in task.sources for path in _in_order(source.path, extract, folder=source.folder)
    ]
    if read and read[-1] in order:
        said = "\n".join((*extract.tasks, *extract.said, *extract.pins))
        never = prohibitions(said)
        left = [path for path in order[order.index(read[-1]) + 1 :] if not forbids(never, path)]
        yield f"read {left[0]}" if left else "all sources are read: answer"
    elif read and task.sources:
        yield f"go on with the source after {read[-1]}"
    elif order:
        yield f"read {order[0]}"
    elif task.sources:
        yield f"list {task.sources[0].path}"


def _numbers(extract: _Extract) -> Iterator[str]:
    """Sentences with numbers: those that match the task, then those whose shape no other line has."""
    # Whoever wrote an order into a text wants it handed on.
    telling = (passage for passage in _passages(extract.leaving) if not _ORDER.match(passage.text))
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
        elif line.startswith(_ERROR):
            yield _short(f"{turns.get(address, 'a call')}: {line.removeprefix(_ERROR)}")
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
        for path in map(normal, _READ.findall(turn)):
            paths.pop(path, None)
            paths[path] = None
    return list(paths)


def _in_order(path: str, extract: _Extract, *, folder: bool) -> Iterator[str]:
    """A file, or a folder's files by a list of it among the texts that leave."""
    if not folder:
        yield path
        return
    lines = extract.leaving.split("\n")
    at = next(
        (at for at, line in enumerate(lines) if (m := _LISTED.search(line)) and normal(m[1]) == path), None
    )
    for name in lines[at + 1 :] if at is not None else ():
        if not name.strip() or name.startswith(("[", "=")):
            return
        if not name.endswith("/"):
            yield normal(posixpath.join(path, name.strip()))


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
