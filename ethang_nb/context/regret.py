"""Regret: what was done again because a cut took it out of the window.

Calls repeated, addresses and files read back, questions asked again, decisions reopened, each linked to the cut it
comes from (seed 003: "The symptom arrives as a repeated question or a reversed decision, three iterations after
the cut"). Rules over calls and words alone, and in doubt silent: who asks for something new regrets nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeVar

from ethang_nb.context.address import Address, find_all, parse
from ethang_nb.context.facts import facts
from ethang_nb.context.hearing import cue_in
from ethang_nb.context.likeness import Likeness, rule, said
from ethang_nb.context.messages import Message, Text, ToolCall, ToolResult
from ethang_nb.context.sentences import Sentence, sentences
from ethang_nb.context.wording import call_title, preview

__all__ = ["WITHIN", "Cut", "Regret", "RegretKind", "RegretWatch", "Seen", "regrets"]

WITHIN = 20  # ► steps after a cut in which a repetition is laid to it
RegretKind = Literal["call", "read", "question", "decision"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A message as it came. `step` is the number of the last request before it: 0 before the first."""

    step: int
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What left one segment in a cut taken at request `step`: where it can be read, and the messages that left.

    Of a tool turn that stays with a shorter result, these are its calls without their words, and the results concerned.
    """

    step: int
    segment: str
    title: str
    address: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regret:
    """One repetition: at which step, of what `kind`, and the step of the cut, the segment and address that had left."""

    step: int
    kind: RegretKind
    cut: int
    segment: str
    address: str
    what: str
    """One line: the call, or the sentence."""


def regrets(steps: Iterable[Seen], cuts: Iterable[Cut], within: int = WITHIN) -> tuple[Regret, ...]:
    """Every regret within `within` steps of its cut, by step and then in the order of the messages. Linear in both.

    `steps` come in the order of the conversation. A cut of step n takes effect before the first message of step n.
    """
    watch = RegretWatch(within)
    waiting = sorted(cuts, key=lambda cut: cut.step)
    found: list[Regret] = []
    at = 0
    for seen in steps:
        while at < len(waiting) and waiting[at].step <= seen.step:
            watch.cut(waiting[at])
            at += 1
        found += watch.see(seen)
    return tuple(sorted(found, key=lambda regret: regret.step))


_Question = tuple[str, frozenset[str]]  # who asks, and the content words


@dataclass(slots=True, eq=False)
class _Left:
    """What left in a cut: where it can be read, and the number of the call that had read it.

    `back`: it stands in the window again, so that whatever comes next is not for want of it.
    """

    cut: Cut
    place: Address | None
    read: int
    back: bool = False

    def regret(self, step: int, kind: RegretKind, what: str) -> Regret:
        address = str(self.place) if self.place else self.cut.address
        return Regret(
            step=step, kind=kind, cut=self.cut.step, segment=self.cut.segment, address=address, what=what
        )


@dataclass(slots=True, eq=False)
class _Decided(_Left):
    sentence: str = ""
    asker: str = ""


_L = TypeVar("_L", bound=_Left)


class RegretWatch:
    """The same, fed as things happen: `cut` before the request it belongs to, `see` for every message that comes."""

    def __init__(self, within: int = WITHIN) -> None:
        self._within = within
        # What left, by what it can be found by: a call, an address or path, a question, a topic of a decision.
        self._calls: dict[str, _Left] = {}
        self._places: dict[str, list[_Left]] = {}
        self._questions: dict[_Question, _Left] = {}
        self._decisions: dict[str, list[_Decided]] = {}
        # What was done. Calls are numbered; "" stands for a write wherever it went.
        self._number = 0
        self._read: dict[str, int] = {}
        self._written: dict[str, int] = {}
        self._waiting: dict[str, tuple[int, str, list[_Left]]] = {}
        """Call id -> step and title of a call whose result will show whether it read one of these back."""
        self._answered: set[_Question] = set()
        self._open: dict[str, list[_Question]] = {"user": [], "assistant": []}

    # ---- what leaves

    def cut(self, cut: Cut) -> None:
        """Takes in what left at a request point. Steps of cuts and messages never go back."""
        calls = {call.id: call for message in cut.messages for call in message.calls}
        for message in cut.messages:
            for result in message.results:
                self._result_leaves(cut, calls.get(result.call_id), result)
            if _speaks(message):
                self._words_leave(cut, message)

    def _result_leaves(self, cut: Cut, call: ToolCall | None, result: ToolResult) -> None:
        does = _deed(call) if call else _NO_DEED
        places = [place for place in (parse(result.address), parse(cut.address)) if place]
        left = _Left(cut, places[0] if places else None, self._read.get(does.key, self._number))
        if does.key and does.kind != "writes":
            self._calls[does.key] = left
        names = (*map(_key, places), *(does.places if does.kind == "reads" else ()))
        for name in dict.fromkeys(names):
            self._file(self._places, name, left)

    def _words_leave(self, cut: Cut, message: Message) -> None:
        for sentence in _sentences(message):
            question = _question(message.role, sentence)
            if question in self._answered:
                self._questions[question] = _Left(cut, None, self._number)
            elif not _asks(sentence) and _decides(sentence):
                decided = _Decided(cut, None, self._number, sentence=sentence.text, asker=message.role)
                for topic in _topics(sentence.text):
                    self._file(self._decisions, topic, decided)

    # ---- what comes

    def see(self, seen: Seen) -> tuple[Regret, ...]:
        """The regrets that this message shows. What is read back shows with the call's result."""
        message, found = seen.message, list[Regret]()
        for result in message.results:
            found += self._result_comes(result)
        if _speaks(message):
            found += self._words_come(seen.step, message)
        for call in message.calls:
            found += self._call_comes(seen.step, call)
        return tuple(found)

    def _call_comes(self, step: int, call: ToolCall) -> Iterator[Regret]:
        does = _deed(call)
        self._number += 1
        if does.kind == "writes":
            self._written.update(dict.fromkeys((*does.places, ""), self._number))
            return
        left = self._calls.pop(does.key, None)
        if left and self._due(left, step) and not self._changed(does, left):
            left.back = True
            yield left.regret(step, "call", call_title(call))
        elif does.kind == "reads":
            back = [one for place in does.places for one in self._still_out(self._places, place, step)]
            back = [one for one in back if not self._changed(does, one)]
            self._waiting[call.id] = (step, call_title(call), back)
        self._read[does.key] = self._number

    def _result_comes(self, result: ToolResult) -> Iterator[Regret]:
        step, title, back = self._waiting.pop(result.call_id, (0, "", []))
        now = parse(result.address)
        again = [left for left in back if _overlap(left.place, now)]
        for left in again:
            left.back = True
        if again:
            yield again[-1].regret(step, "read", title)

    def _words_come(self, step: int, message: Message) -> Iterator[Regret]:
        role = message.role
        other = self._open["assistant" if role == "user" else "user"]
        self._answered.update(other)
        other.clear()
        if "?" not in _own_text(message) and not self._decisions:
            return
        for sentence in _sentences(message):
            question = _question(role, sentence)
            if question:
                left = self._questions.pop(question, None)
                if left and self._due(left, step):
                    yield left.regret(step, "question", preview(sentence.text, 120))
                self._answered.discard(question)
                self._open[role].append(question)
            decided = self._reopened(role, sentence, step)
            if decided:
                decided.back = True
                yield decided.regret(step, "decision", preview(sentence.text, 120))

    def _reopened(self, role: str, sentence: Sentence, step: int) -> _Decided | None:
        for topic in _topics(sentence.text) if self._decisions else ():
            for decided in self._still_out(self._decisions, topic, step):
                if _reopens(role, sentence, decided):
                    return decided
        return None

    def _file(self, filed: dict[str, list[_L]], name: str, left: _L) -> None:
        held = filed.get(name, [])
        if held and not self._due(held[0], left.cut.step):
            held = self._still_out(filed, name, left.cut.step)
        filed[name] = held
        held.append(left)

    def _still_out(self, filed: dict[str, list[_L]], name: str, step: int) -> list[_L]:
        """What is filed under `name` and may still be laid to its cut; the rest is forgotten on the way."""
        lately = [one for one in filed.pop(name, ()) if self._due(one, step)]
        if lately:
            filed[name] = lately
        return lately

    def _due(self, left: _Left, step: int) -> bool:
        return not left.back and step - left.cut.step <= self._within

    def _changed(self, does: _Deed, left: _Left) -> bool:
        """Whether what it asks for was written since: a file that it names, or, where it names none, anything."""
        return any(self._written.get(place, 0) > left.read for place in does.places or ("",))


# ---- calls


class _Deed(NamedTuple):
    """A call as it is compared: name and canonical arguments, what it does, and the places that it names."""

    key: str
    kind: Literal["reads", "writes", "runs"]
    places: tuple[str, ...]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READING = _set(
    "read open cat view show get fetch load grep rg search find list ls head tail less more nl look query glob stat"
    " diff log blame status wc awk type"
)
_WRITING = _set(
    "write edit create delete remove move rename patch apply replace insert append save commit push update set put"
    " post send pin unpin release add undo rm mv cp mkdir touch tee chmod install checkout reset"
)
_RUNNING = _set("run exec execute test build bash shell sh python eval call compute")
_COMMAND_KEYS = ("command", "cmd", "script")
_PATH_KEYS = _set("path file file_path filepath filename notebook_path target_file relative_path")
_TEXT_KEYS = _set("content contents text new_str old_str new_string old_string code patch diff")
_LONGEST_ARGUMENT = 2_000  # ► characters; a longer one is a text, no place
_REDIRECT = re.compile(r"(?<![0-9&>])>{1,2}\s{0,4}(?!\s|&|/dev/null)")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


_NO_DEED = _Deed("", "runs", ())


def _deed(call: ToolCall) -> _Deed:
    # Long arguments are texts to be written: not worth keeping, and too long to be a key.
    made = _deed_of if len(call.arguments) <= _LONGEST_ARGUMENT else _deed_of.__wrapped__
    return made(call.name, call.arguments)


@lru_cache(maxsize=4_096)
def _deed_of(name: str, written: str) -> _Deed:
    try:
        arguments = json.loads(written or "{}")
        packed = json.dumps(arguments, sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        arguments, packed = {}, " ".join(written.split())
    arguments = arguments if isinstance(arguments, dict) else {}
    command = next((value for key in _COMMAND_KEYS if isinstance(value := arguments.get(key), str)), "")
    if len(packed) > _LONGEST_ARGUMENT:
        packed = hashlib.sha256(packed.encode("utf-8", "replace")).hexdigest()
    return _Deed(f"{name} {packed}", _kind(name, command), tuple(_places(arguments)))


def _kind(name: str, command: str) -> Literal["reads", "writes", "runs"]:
    """A command says more than the tool that takes it; a tool of another name is taken for one that reads."""
    if command:
        own = command.rpartition("&&")[2].split()
        words = own[:2] if own[:1] == ["git"] else own[:1]
        if _REDIRECT.search(command) or _WRITING & set(words) or (words == ["sed"] and "-i" in own):
            return "writes"
        return "reads" if (_READING | {"sed"}) & set(words) else "runs"
    words = [word.lower() for word in _WORD.findall(name)]
    if _WRITING & set(words):
        return "writes"
    return "runs" if _RUNNING & set(words) and not _READING & set(words) else "reads"


def _places(arguments: dict[str, Any]) -> Iterator[str]:
    """Keys of the addresses and paths that the arguments name, each once, in order."""
    found: dict[str, None] = {}
    for key, value in arguments.items():
        for text in value if isinstance(value, list) else (value,):
            if not isinstance(text, str) or key in _TEXT_KEYS or len(text) > _LONGEST_ARGUMENT:
                continue
            addresses = [item for item in (parse(text),) if item] or list(find_all(text))
            found.update(dict.fromkeys(map(_key, addresses)))
            if addresses:
                continue
            if key in _PATH_KEYS:
                found[_path(text)] = None
            found.update((_path(fact.text), None) for fact in facts(text) if fact.kind == "path")
    yield from found


def _key(address: Address) -> str:
    """What an address is looked up by: a file by its path, everything else by the address of the whole text."""
    return _path(address.place) if address.scheme == "file" else address.base


def _path(text: str) -> str:
    return re.sub("/{2,}", "/", text.strip().replace("\\", "/")).removeprefix("./").rstrip("/")


def _overlap(left: Address | None, now: Address | None) -> bool:
    """Whether the text read now has lines of that which left; where one does not say which, it is taken to have."""
    if left is None or now is None or _key(left) != _key(now) or not (left.lines and now.lines):
        return True
    if left.lines == now.lines and left.version and now.version:
        return left.version == now.version  # else the file is another since
    return left.lines[0] <= now.lines[1] and now.lines[0] <= left.lines[1]


# ---- words

_CHOICE = re.compile(
    r"\b(?:should|shall|which|what|instead|rather|prefer|reconsider|switch|decide|choose|pick|or)\b"
)
_AS_DECIDED = re.compile(
    r"\bas (?:we )?(?:decided|agreed|settled|chosen|planned)\b|\b(?:already|earlier) (?:decided|agreed|settled|chose)"
    r"|\bstick(?:ing)? (?:with|to)\b"
)
# Of these a piece of work has one, so that another name for it is another decision.
_ONE_OF = _set("database cache queue frontend cloud payments") | {
    "web framework",
    "programming language",
    "package manager",
    "test runner",
}
_COURTESIES = (
    "anything something everything nothing else further help question ready continue proceed next step"
)
_MONEY = _set("eur usd gbp chf")
_EXACT = re.compile(r"\d|[^\W\d_]\.[^\W\d_]|/.")


def _speaks(message: Message) -> bool:
    return message.kind == "message" and message.role in ("user", "assistant") and message.trust != "outside"


def _own_text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))


def _sentences(message: Message) -> Iterator[Sentence]:
    return sentences(_own_text(message))


def _asks(sentence: Sentence) -> bool:
    return sentence.text.rstrip("\"'”’)]* ").endswith("?")


def _decides(sentence: Sentence) -> bool:
    cue = cue_in(sentence.heard)
    return sentence.marked == "decision" or (cue is not None and cue.kind == "decision")


def _question(role: str, sentence: Sentence) -> _Question | None:
    """Who asks, and the content words; None where there are too few to know the question again."""
    if not _asks(sentence):
        return None
    words = said(sentence.text)
    own = words.all - said(_COURTESIES).all
    return (role, own) if own & set(words.strong) and len(own) > 1 else None


def _settled(text: str) -> dict[str, frozenset[str]]:
    """What of a known kind a sentence names ("database": {"postgres"}). "Go" is nearly always the verb."""
    return {what: given for what, given in rule(text).values.items() if given != {"go"}}


def _exact(words: Likeness) -> frozenset[str]:
    """Numbers, paths and file names among the words."""
    return frozenset(word for word in words.all if _EXACT.search(word))


def _matter(text: str) -> frozenset[str]:
    """The words that say what a sentence is about, without the values it gives."""
    words = said(text)
    return frozenset(words.strong) - _exact(words) - _MONEY


def _topics(text: str) -> tuple[str, ...]:
    """What a decision is filed under, and looked up by."""
    kinds = {word for what in _settled(text) for word in said(what).all}
    return tuple(sorted(_matter(text) | kinds | {f"={what}" for what in _settled(text)}))


def _reopens(role: str, sentence: Sentence, decided: _Decided) -> bool:
    """Whether the agent asks for or decides again what was decided, or the owner has to say it again."""
    asks, text = _asks(sentence), sentence.text
    if _AS_DECIDED.search(sentence.heard) or not (asks or _decides(sentence)):
        return False
    now, then = _settled(text), _settled(decided.sentence)
    about, was = _matter(text), _matter(decided.sentence)
    same_words = len(was) > 1 and was <= about
    if role == "user":
        again = then and all(now.get(what) == given for what, given in then.items())
        return not asks and decided.asker == "user" and bool(again or (same_words and not now))
    if asks and not _CHOICE.search(sentence.heard):
        return False
    for what, given in then.items():
        other = now.get(what, frozenset()) - given
        if other and (what in _ONE_OF or was & about):
            return True
        if asks and what in _ONE_OF and set(said(what).strong) <= about:
            return True  # which database?
    return same_words and (asks or bool(_exact(said(text)) - _exact(said(decided.sentence))))
