"""The reader's grammar: what a task in plain words asks for. Case does not matter.

    Read …           names the sources: `a.txt, b.txt and c.txt`, `"my notes.txt"`, `lib/*.py`,
                     `every file in data/contracts`, `all .py files in lib`, `lib/ except test.py`
    Find …           a question
    Tell me …        a question; so is Report …, and a sentence that ends with `?`
    Never open …     a prohibition; also read, touch, access; `do not`, `don't`, `must not` too

Clauses are joined by full stops, commas, "and", "then". A folder means the files right in it. Anything else
in a task is passed over; a task with none of these verbs is not understood.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from ethang_nb.store.search import STOP_WORDS

__all__ = [
    "VERBS",
    "Source",
    "Task",
    "content_words",
    "forbids",
    "normal",
    "parse",
    "prohibitions",
    "sentences",
]

VERBS = ("Read", "Find", "Tell", "Report", "Never")

_SENTENCE_END = re.compile(r"(?<=[.!?;])(?=\s)|\n+")
_BULLET = re.compile(r":?[ \t]*\n[ \t]*[-*•][ \t]+")
_FORBID = r"(?:never|do\s+not|don['’]t|must\s+not|may\s+not)\s+(?:ever\s+)?"
_TOUCH = r"(?:open|read|touch|access|look\s+(?:at|into))"
_TOUCHES = rf"{_TOUCH}(?:\s*(?:,|,?\s*or|,?\s*and)\s+{_TOUCH})*"
_CLAUSE = re.compile(
    rf"(?P<never>\b{_FORBID}{_TOUCHES}\b)"
    r"|(?:^[\s\-*>\"'(\d.)]*|[,;:–—]\s*|\b(?:and|then|but|please|also|finally|first|next|now|you|to|can|could)\s+)"
    r"(?P<verb>read|find\s+out|find|tell|report)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"[\s,;:–—]*\b(?:and|then|but|please|also|finally|first|next|now)?[\s,;:–—]*$", re.IGNORECASE
)
_ADDRESSEE = re.compile(r"^\s*(?:back\s+)?(?:(?:to\s+)?(?:me|us)\b)?[\s:,]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file, or the files right in a folder whose names match `pattern`."""

    path: str
    folder: bool = False
    pattern: str = "*"


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
            kept, _, left_out = _split_exceptions(body)
            named = _sources(kept)
            if not named and questions:  # "tell me which files you read"
                questions[-1] += f" read {body}"
                continue
            reads = True
            sources += [source for source in named if source not in sources]
            never += _objects(left_out)
        elif verb == "never":
            never += _objects(body)
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
    found = (name for verb, body in _clauses(text) if verb == "never" for name in _objects(body))
    return tuple(dict.fromkeys(found))


def forbids(names: Iterable[str], path: str) -> bool:
    """Whether one of `names` means `path`: its path, a part of it, its name with or without ending, a pattern."""
    path = normal(path).lower()
    base = posixpath.basename(path)
    for name in (normal(name).lower() for name in names):
        if name in (path, base, base.rpartition(".")[0]) or fnmatch.fnmatchcase(base, name):
            return True
        if (
            f"/{path}".endswith(f"/{name}")
            or f"/{path}/".find(f"/{name}/") >= 0
            or fnmatch.fnmatchcase(path, name)
        ):
            return True
    return False


def normal(path: str) -> str:
    """A path in one spelling: `/` between, no `./`, no `/` at the end."""
    return posixpath.normpath(path.strip().replace("\\", "/")) if path.strip() else "."


def sentences(text: str) -> list[str]:
    """The sentences of `text`; a dot inside a file's name ends none."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


_STOP = STOP_WORDS.union(
    (
        "all",
        "also",
        "any",
        "because",
        "been",
        "both",
        "each",
        "every",
        "everything",
        "just",
        "many",
        "more",
        "most",
    ),
    (
        "much",
        "must",
        "one",
        "only",
        "other",
        "out",
        "over",
        "same",
        "some",
        "something",
        "those",
        "too",
        "up",
        "while",
    ),
    ("answer", "file", "files", "find", "line", "named", "page", "report", "say", "says", "source", "tell"),
)  # ► beyond the search's own: words of a task that an answer seldom holds

_PUNCTUATION = "\"'`“”\u2018\u2019()[]{}<>.,;:!?"


def content_words(question: str) -> tuple[str, ...]:
    """The words of a question that an answer would hold, in order, each once; file names are none of them."""
    words: dict[str, str] = {}
    for token in question.split():
        bare = token.strip(_PUNCTUATION)
        if _is_path(bare):
            continue
        for word in re.findall(r"\w+(?:-\w+)*", bare.removesuffix("'s").removesuffix("’s")):
            if word.lower() not in _STOP:
                words.setdefault(word.lower(), word)
    return tuple(words.values())


# How a text falls into clauses


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """(verb, body) of each clause; a sentence without a verb is a question if it ends so, else left out."""
    listed = _BULLET.sub(", ", text)
    for sentence in sentences(re.sub(r":[ \t]*\n+", ": ", listed)):
        starts = list(_CLAUSE.finditer(sentence))
        asks = sentence.rstrip(" \"'”)").endswith("?")
        if not starts:
            if asks:
                yield "ask", sentence
            continue
        ends = [match.start() for match in starts[1:]] + [len(sentence)]
        for match, end in zip(starts, ends, strict=True):
            body = _JOINT.sub("", sentence[match.end() : end])
            verb = (match["verb"] or "never").lower().split()[0]
            if verb in ("tell", "report"):
                body = _ADDRESSEE.sub("", body)
            if verb == "read" and asks and end == len(sentence) and ":" in body:
                body, _, question = body.partition(":")  # "Read a.txt: which order is affected?"
                yield "read", body
                verb, body = "ask", question
            yield verb, body


# Names in a clause

_QUOTED = re.compile(r"[\"“`]([^\"”`]+)[\"”`]|(?<!\w)'([^']+)'(?!\w)")
_EXTENSION = re.compile(r"(?:^|[^.])\.[A-Za-z][A-Za-z0-9]{0,7}$")
_KNOWN = re.compile(r"(?:[A-Z][A-Z_]{3,}|Makefile|Dockerfile|Procfile|Rakefile)$")
_NOT_PATHS = {"and/or", "e.g", "i.e", "either/or"}
_INSIDE = {"in", "of", "from", "under", "inside", "within", "folder", "directory"}
_WHOLE = {"every", "all", "each", "everything", "any", "files", "contents", "folder", "directory"}
_HERE = {"here", "this", "current"}
_LANGUAGES = {"python": "*.py", "text": "*.txt", "markdown": "*.md", "json": "*.json"}
_EXCEPT = re.compile(
    r"\b(except(?:\s+for)?|but\s+not|excluding|other\s+than|without|apart\s+from)\b", re.IGNORECASE
)
_BECAUSE = re.compile(
    r"\s(?:because|since|unless|until|when|while|if|as|for|even|again|in this|[(–—])", re.IGNORECASE
)
_FILLER = {
    *(
        "the",
        "a",
        "an",
        "any",
        "anything",
        "everything",
        "all",
        "every",
        "each",
        "file",
        "files",
        "folder",
        "or",
    ),
    *(
        "and",
        "directory",
        "document",
        "documents",
        "called",
        "named",
        "in",
        "of",
        "from",
        "under",
        "inside",
        "nor",
    ),
}


def _split_exceptions(body: str) -> tuple[str, str, str]:
    match = _EXCEPT.search(body)
    return (body[: match.start()], match[0], body[match.end() :]) if match else (body, "", "")


def _sources(body: str) -> list[Source]:
    """The files and folders that the body of a Read clause names, in order."""
    tokens = _tokens(body)
    words = [token.lower() for token, _ in tokens]
    whole = any(word in _WHOLE for word in words)
    pattern = _pattern(words)
    found: list[Source] = []
    for at, (token, quoted) in enumerate(tokens):
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        inside = before in _INSIDE or (before == "the" and at > 1 and words[at - 2] in _INSIDE)
        if "*" in token and not (token.startswith("*.") and after in ("file", "files")):
            folder, _, glob = normal(token).rpartition("/")
            found.append(Source(path=folder or ".", folder=True, pattern=glob))
        elif after in ("folder", "directory") and words[at] not in _FILLER | _HERE:
            found.append(Source(path=normal(token), folder=True, pattern=pattern))
        elif words[at] in _HERE and (inside or words[at] == "here" or after in ("folder", "directory")):
            found.append(Source(path=".", folder=True, pattern=pattern))
        elif token.startswith((".", "*.")) and after in ("file", "files"):
            continue  # "all .py files": the pattern
        elif inside and words[at] not in _FILLER and not _is_file(token, quoted=quoted):
            _add_folder(found, normal(token), pattern, whole=whole)
        elif _is_file(token, quoted=quoted):
            found.append(Source(path=normal(token)))
        elif _is_path(token):
            found.append(Source(path=normal(token), folder=True, pattern=pattern))
    return list(dict.fromkeys(found))


def _add_folder(found: list[Source], folder: str, pattern: str, *, whole: bool) -> None:
    """A folder after "in": all of it, or where the files named just before lie ("a.txt and b.txt in data")."""
    bare = [at for at, source in enumerate(found) if not source.folder and "/" not in source.path]
    if whole or not bare:
        found.append(Source(path=folder, folder=True, pattern=pattern))
        return
    for at in bare:
        found[at] = Source(path=posixpath.join(folder, found[at].path))


def _pattern(words: list[str]) -> str:
    """`*.py` out of "all .py files" or "every Python file"; else any name."""
    for word, after in pairwise(words):
        if after in ("file", "files"):
            if word.startswith((".", "*.")):
                return f"*.{word.lstrip('*.')}"
            if word in _LANGUAGES:
                return _LANGUAGES[word]
    return "*"


def _objects(body: str) -> list[str]:
    """The names in the body of a prohibition."""
    reason = _BECAUSE.search(body)
    names: list[str] = []
    for part in re.split(r",|\bor\b|\band\b|\bnor\b", body[: reason.start()] if reason else body):
        named = re.sub(rf"^\s*{_TOUCH}\b", "", part, flags=re.IGNORECASE)  # "never open a.txt or touch b.txt"
        tokens = [
            (token, quoted) for token, quoted in _tokens(named) if quoted or token.lower() not in _FILLER
        ]
        marked = [token for token, quoted in tokens if quoted or re.search(r"[/._*\d-]", token)]
        # A single plain word is a name ("never touch secrets"); several are talk.
        names += marked or [token for token, _ in tokens if len(tokens) == 1]
    return names


def _tokens(body: str) -> list[tuple[str, bool]]:
    """The words of `body` without punctuation around them, and whether each stood in quotes."""
    tokens: list[tuple[str, bool]] = []
    end = 0
    for match in _QUOTED.finditer(body):
        tokens += [(word, False) for word in _bare_words(body[end : match.start()])]
        tokens.append((match[1] or match[2], True))
        end = match.end()
    return tokens + [(word, False) for word in _bare_words(body[end:])]


def _bare_words(text: str) -> list[str]:
    words = (word.lstrip("([{<\"'").rstrip(")]}>\"',;:!?.") for word in re.split(r"[\s,;]+", text))
    return [word for word in words if word]


def _is_path(token: str) -> bool:
    if token.lower() in _NOT_PATHS:
        return False
    return "/" in token or "\\" in token or bool(_EXTENSION.search(token))


def _is_file(token: str, *, quoted: bool = False) -> bool:
    """Whether a name is a file's: it has an ending, or is one of the names that files without one go by."""
    if token.endswith(("/", "\\")):
        return False
    base = normal(token).rpartition("/")[2]
    if _is_path(token) and (_EXTENSION.search(base) or _KNOWN.match(base)):
        return True
    return bool(_KNOWN.match(base)) or (quoted and "/" not in token and "." in token)
