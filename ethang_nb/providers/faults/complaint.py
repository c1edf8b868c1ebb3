"""Complaint: what an error answer says, whatever shape it has.

Servers that speak the same wire format still fail in many shapes: an object, a list, JSON inside a string, a flat
object, a page of HTML, nothing. Read here once, bounded in size and depth; what it means is judged elsewhere.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ethang_nb.providers.wires.usage import whole

__all__ = ["READ", "Complaint", "complaint_in", "complaint_of", "one_line"]

READ = 4_000  # ► characters of a message that are looked at
_BODY = 1_000_000  # ► characters of a body that are parsed
_DEPTH = 8  # ► steps into errors inside errors: a proxy of a proxy, and its message as JSON once more
_ENVELOPES = {"error", "failed"}  # values of `type` and `status` that only say that it is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """`text` in one line; `code` and `kind` in small letters, "" where absent; `status` where a number stood for it.

    `tokens` and `limit` only where they have fields of their own.
    """

    text: str = ""
    code: str = ""
    kind: str = ""
    param: str = ""
    status: int | None = None
    tokens: int | None = None
    limit: int | None = None


def complaint_of(body: str) -> Complaint:
    """What an error answer's body says. Never raises."""
    data = _json(body) if len(body) <= _BODY else None
    found = _read(data, _DEPTH) if isinstance(data, Mapping | list) else None
    return found or Complaint(text=_plain(body))


def complaint_in(data: object) -> Complaint | None:
    """The complaint inside JSON that came with status 200; None where it holds none."""
    if isinstance(data, list):
        data = data[0] if len(data) == 1 else None
    if not isinstance(data, Mapping):
        return None
    response, choices = data.get("response"), data.get("choices")
    if data.get("type") == "response.failed" and isinstance(response, Mapping):
        data = {"status": "failed", **response}
    elif isinstance(choices, list) and choices and isinstance(choices[0], Mapping) and not data.get("error"):
        data = choices[0]  # OpenRouter: one choice failed
    base = data.get("base_resp")  # MiniMax
    spoken = (
        bool(data.get("error"))
        or data.get("type") == "error"
        or data.get("object") == "error"
        or data.get("status") == "failed"
        or (isinstance(base, Mapping) and bool(base.get("status_code")))
    )
    return (_read(data, _DEPTH) or Complaint()) if spoken else None


def one_line(text: str, limit: int) -> str:
    """The text in one line without control characters, cut at `limit` characters."""
    line = " ".join("".join(" " if _unseen(c) else c for c in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs"}


def _read(data: object, depth: int) -> Complaint | None:
    """The innermost complaint in `data`; what an inner one lacks is taken from the one around it."""
    if depth == 0:
        return None
    if isinstance(data, list):
        return next(filter(None, (_read(item, depth - 1) for item in data[:3])), None)
    if isinstance(data, str):
        return _read(_nested(data), depth - 1)
    if not isinstance(data, Mapping):
        return None
    own, inner = _own(data), tuple(_inner(data))
    for each in inner:
        if found := _read(each, depth - 1):
            return _filled(found, own)
    texts = (one_line(each, READ) for each in inner if isinstance(each, str))
    own = own if own.text else replace(own, text=next(filter(None, texts), ""))
    return own if own != Complaint() else None


def _nested(text: str) -> object:
    """The JSON that a text is, or the error as JSON that it ends with; other JSON in it may be anybody's."""
    start = text.find("{", 0, READ)
    data = _json(text[start:]) if start >= 0 else None
    return data if isinstance(data, Mapping) and ("error" in data or not text[:start].strip()) else None


def _inner(data: Mapping[str, Any]) -> Iterator[object]:
    """What may hold the real complaint, the most telling first."""
    metadata = data.get("metadata")
    if isinstance(metadata, Mapping):
        yield metadata.get("raw")  # OpenRouter: what the provider behind it said
    for name in ("error", "errors", "detail", "base_resp", "message"):
        yield data.get(name)


def _own(data: Mapping[str, Any]) -> Complaint:
    numbers = (_status(data.get(name)) for name in ("code", "status_code", "status"))
    kinds = (_word(data.get(name)) for name in ("type", "status", "__type"))
    texts = (data.get(name) for name in ("message", "msg", "status_msg"))
    code = _word(data.get("code"))
    return Complaint(
        text=next((one_line(text, READ) for text in texts if isinstance(text, str)), ""),
        code="" if _status(code) else code,
        kind=next((kind for kind in kinds if kind and kind not in _ENVELOPES and not _status(kind)), ""),
        param=_word(data.get("param")),
        status=next(filter(None, numbers), None),
        tokens=_count(data.get("n_prompt_tokens")),
        limit=_count(data.get("n_ctx")),
    )


def _filled(inner: Complaint, outer: Complaint) -> Complaint:
    names = ("text", "code", "kind", "param", "status", "tokens", "limit")
    return replace(
        inner,
        **{n: getattr(outer, n) for n in names if getattr(inner, n) in {"", None} and getattr(outer, n)},
    )


def _word(value: object) -> str:
    return (
        one_line(str(value), 200).lower()
        if isinstance(value, str | int) and not isinstance(value, bool)
        else ""
    )


def _status(value: object) -> int | None:
    """A code that is a status in disguise: 429 or "429"."""
    text = str(value) if isinstance(value, str | int) else ""
    return int(text) if re.fullmatch(r"[45]\d\d", text, re.ASCII) else None


def _count(value: object) -> int | None:
    return whole(value) or None


def _json(text: str) -> object:
    try:
        return json.JSONDecoder().raw_decode(text.lstrip("\ufeff \t\r\n"))[0]
    except (ValueError, RecursionError):
        return None


_TAGS = re.compile(r"<(?:style|script)\b[^<]*|<[^<>]*>", re.I)


def _plain(body: str) -> str:
    """The words of a body that is no JSON; of a page its title, or what stands between its tags."""
    head = body[: READ * 4]
    if not head.lstrip().startswith("<"):
        return one_line(head, READ)
    low = head.lower()
    start = low.find("<title>")
    end = low.find("</title>", start)
    return one_line(head[start + 7 : end] if 0 <= start < end else _TAGS.sub(" ", head), READ)
