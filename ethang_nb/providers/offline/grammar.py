"""The reader's grammar: what a task in plain words asks for. Case does not matter.

    Read …           names the sources: `a.txt, b.txt and c.txt`, `"my notes.txt"`, `lib/*.py`,
                     `every file in data/contracts`, `all .py files in lib`, `lib/ except test.py`
    Find …           a question
    Tell me …        a question; so is Report …, and a sentence that ends with `?`
    Never open …     a prohibition; also read, touch, access; `do not`, `don't`, `must not` too

Clauses are joined by full stops, commas, "and", "then". A folder means the files right in it. Anything else
in a task is passed over, a label in brackets before it too; a task with none of these verbs is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ethang_nb.providers.offline.names import TOUCH, Source, is_path, objects, split_exceptions
from ethang_nb.providers.offline.names import sources as sources_in
from ethang_nb.store.search import STOP_WORDS

__all__ = ["Task", "content_words", "parse", "prohibitions", "sentences"]

_SENTENCE_END = re.compile(r"(?<=[.!?;])(?=\s)|\n+")
_BLANKS = re.compile(r"[^\S\n]+")  # one blank is as good as a million, and no pattern has to try them all
_LABEL = re.compile(r"\s*\[[^\[\]\n]{0,200}\]\s*")
_BULLET = re.compile(r":? ?\n ?[-*•] ")
_FORBID = r"(?:never|do\s+not|don['’]t|must\s+not|may\s+not)\s+(?:ever\s+)?"
_TOUCHES = rf"{TOUCH}(?:\s*(?:,|,?\s*or|,?\s*and)\s+{TOUCH})*"
_CLAUSE = re.compile(
    rf"(?P<never>\b{_FORBID}{_TOUCHES}\b)"
    r"|(?:^[\s\-*>\"'(\d.)]*|[,;:–—]\s*|\b(?:and|then|but|please|also|finally|first|next|now|you|to|can|could)\s+)"
    r"(?P<verb>read|find\s+out|find|tell|report)\b",
    re.IGNORECASE,
)
_JOINTS = ("and", "then", "but", "please", "also", "finally", "first", "next", "now")
_ADDRESSEE = re.compile(r"^\s*(?:back\s+)?(?:(?:to\s+)?(?:me|us)\b)?[\s:,]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What one user message asks for."""

    sources: tuple[Source, ...] = ()
    question: str = ""
    prohibitions: tuple[str, ...] = ()
    reads: bool = False
    """Whether there is a Read clause at all, even one whose sources are not understood."""

    @property
    def empty(self) -> bool:
        """Whether it asks for nothing by itself: no verb of the grammar, or prohibitions only."""
        return not (self.reads or self.question)


def parse(text: str) -> Task:
    """What `text` asks for."""
    sources: list[Source] = []
    questions: list[str] = []
    never: list[str] = []
    reads = False
    for verb, body in _clauses(text):
        if verb == "read":
            kept, _, left_out = split_exceptions(body)
            named = sources_in(kept)
            if not named and questions:  # "tell me which files you read"
                questions[-1] += f" read {body}"
                continue
            reads = True
            sources += [source for source in named if source not in sources]
            never += objects(left_out)
        elif verb == "never":
            never += objects(body)
        elif question := body.strip(" ?.!,;:"):
            questions.append(question)
    return Task(
        sources=tuple(sources),
        question="; ".join(questions),
        prohibitions=tuple(dict.fromkeys(never)),
        reads=reads,
    )


def prohibitions(text: str) -> tuple[str, ...]:
    """What `text` forbids to open, wherever in it that stands."""
    found = (name for verb, body in _clauses(text) if verb == "never" for name in objects(body))
    return tuple(dict.fromkeys(found))


def sentences(text: str) -> list[str]:
    """The sentences of `text`; a dot inside a file's name ends none."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


_SELDOM_ANSWERED = (  # ► words of a task that an answer seldom holds, beyond the search's own stop words
    "all also any because been both each every everything just many more most much must one only other out over"
    " same some something those too up while answer file files find line named page report say says source tell"
)
_STOP = STOP_WORDS.union(_SELDOM_ANSWERED.split())
_PUNCTUATION = "\"'`“”\u2018\u2019()[]{}<>.,;:!?"


def content_words(question: str) -> tuple[str, ...]:
    """The words of a question that an answer would hold, in order, each once; file names are none of them."""
    words: dict[str, str] = {}
    for token in question.split():
        bare = token.strip(_PUNCTUATION)
        if is_path(bare):
            continue
        for word in re.findall(r"\w+(?:-\w+)*", bare.removesuffix("'s").removesuffix("’s")):
            if word.lower() not in _STOP:
                words.setdefault(word.lower(), word)
    return tuple(words.values())


# How a text falls into clauses


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """(verb, body) of each clause; a sentence without a verb is a question if it ends so, else left out."""
    label = _LABEL.match(text)
    listed = _BULLET.sub(", ", _BLANKS.sub(" ", text[label.end() :] if label else text))
    for sentence in sentences(re.sub(r": ?\n+", ": ", listed)):
        starts = list(_CLAUSE.finditer(sentence))
        asks = sentence.rstrip(" \"'”)").endswith("?")
        if not starts:
            if asks:
                yield "ask", sentence
            continue
        ends = [match.start() for match in starts[1:]] + [len(sentence)]
        for match, end in zip(starts, ends, strict=True):
            body = _without_joint(sentence[match.end() : end])
            verb = (match["verb"] or "never").lower().split()[0]
            if verb in ("tell", "report"):
                body = _ADDRESSEE.sub("", body)
            if verb == "read" and asks and end == len(sentence) and ":" in body:
                body, _, question = body.partition(":")  # "Read a.txt: which order is affected?"
                yield "read", body
                verb, body = "ask", question
            yield verb, body


def _without_joint(body: str) -> str:
    """A clause without the word that joins the next one to it."""
    bare = body.rstrip(" ,;:–—")
    before, _, last = bare.rpartition(" ")
    return before.rstrip(" ,;:–—") if last.lower() in _JOINTS else bare
