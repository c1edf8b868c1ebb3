"""Names in a clause: the files and folders that are to be read, and those that nobody may open."""

from __future__ import annotations

import fnmatch
import json
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

__all__ = [
    "TOUCH",
    "Source",
    "forbids",
    "is_path",
    "normal",
    "objects",
    "quoted",
    "sources",
    "split_exceptions",
    "unquoted",
]

TOUCH = r"(?:open|read|touch|access|look\s+(?:at|into))"
"""The verbs of a prohibition, as a pattern."""

_QUOTED = re.compile(r"[\"“`]([^\"”`]+)[\"”`]|(?<!\w)'([^']+)'(?!\w)")
_EXTENSION = re.compile(r"(?:^|[^.])\.[A-Za-z][A-Za-z0-9]{0,7}$")
_KNOWN = re.compile(r"(?:README|LICENSE|NOTICE|COPYING|CHANGELOG|AUTHORS|TODO|Makefile|Dockerfile|Procfile)$")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file, or the files right in a folder whose names match `pattern`."""

    path: str
    folder: bool = False
    pattern: str = "*"


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
    return posixpath.normpath(path.replace("\\", "/")) if path.strip() else "."


def unquoted(shown: str) -> str:
    """A name as it is, where a tool shows it as a JSON string: one with odd characters, or a quote or bracket first."""
    if not shown.startswith('"'):
        return shown
    try:
        name = json.loads(shown)
    except ValueError:
        return shown
    return name if isinstance(name, str) else shown


def quoted(name: str) -> str:
    """A name on one line, as tools show it: a JSON string where it would not be one by itself."""
    return name if name.isprintable() and not name.startswith(('"', "[")) else json.dumps(name)


def split_exceptions(body: str) -> tuple[str, str, str]:
    match = _EXCEPT.search(body)
    return (body[: match.start()], match[0], body[match.end() :]) if match else (body, "", "")


def sources(body: str) -> list[Source]:
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
        elif is_path(token):
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


def objects(body: str) -> list[str]:
    """The names in the body of a prohibition."""
    reason = _BECAUSE.search(body)
    names: list[str] = []
    for part in re.split(r",|\bor\b|\band\b|\bnor\b", body[: reason.start()] if reason else body):
        named = re.sub(rf"^\s*{TOUCH}\b", "", part, flags=re.IGNORECASE)  # "never open a.txt or touch b.txt"
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
        tokens.append(((match[1] or match[2]).strip(), True))
        end = match.end()
    return tokens + [(word, False) for word in _bare_words(body[end:])]


def _bare_words(text: str) -> list[str]:
    words = (word.lstrip("([{<\"'").rstrip(")]}>\"',;:!?.") for word in re.split(r"[\s,;]+", text))
    return [word for word in words if word]


def is_path(token: str) -> bool:
    if token.lower() in _NOT_PATHS:
        return False
    return "/" in token or "\\" in token or bool(_EXTENSION.search(token))


def _is_file(token: str, *, quoted: bool = False) -> bool:
    """Whether a name is a file's: it has an ending, or is one of the names that files without one go by."""
    if token.endswith(("/", "\\")):
        return False
    base = normal(token).rpartition("/")[2]
    if is_path(token) and (_EXTENSION.search(base) or _KNOWN.match(base)):
        return True
    return bool(_KNOWN.match(base)) or (quoted and "/" not in token and "." in token)
