"""GGUF: the head of a model file, read before anything that is not Python may stumble over it.

Only what is needed to judge the file: that it is one, and how long a context its model was trained for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ethang_nb.errors import PathRefused

__all__ = ["Head", "head_of"]

MAGIC = b"GGUF"
VERSIONS = (2, 3)
LONGEST = 1 << 20  # ► bytes of one key or text; the largest seen are chat templates of some 20 kB
MOST = 1 << 24  # ► entries of one list; vocabularies have up to some 300,000
FIELDS = 4_096  # ► metadata fields

_SIZES = (1, 1, 2, 2, 4, 4, 4, 1, None, None, 8, 8, 8)  # bytes of a value by its type; None: text, list
_TEXT, _LIST = 8, 9
_INTEGERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 10: "<Q", 11: "<q"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """`context`: tokens the model was trained for; None where the file does not say."""

    context: int | None = None


def head_of(path: Path, name: str) -> Head:
    """The head of a model file. Raises PathRefused, with `name` for the file, for what is none."""
    try:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise PathRefused(f"{name} is no GGUF file: it does not begin with GGUF; give one that does")
            return _head(file)
    except FileNotFoundError:
        raise PathRefused(f"{name} is not there; give the path of a GGUF file") from None
    except OSError as error:
        raise PathRefused(f"{name} cannot be read: {error.strerror}; give the path of a GGUF file") from None
    except (struct.error, _DamagedError):
        raise PathRefused(
            f"{name} is damaged: its head is cut off or contradicts itself; fetch it anew"
        ) from None


class _DamagedError(Exception):
    """A size that cannot be."""


def _head(file: BinaryIO) -> Head:
    (version,) = _read(file, "<I")
    if version not in VERSIONS:
        return Head()  # of the other byte order, or newer than this; the loader may know it
    _, fields = _read(file, "<QQ")
    if fields > FIELDS:
        raise _DamagedError
    for _ in range(fields):
        key = _text(file)
        (kind,) = _read(file, "<I")
        if key.endswith(b".context_length") and key.count(b".") == 1 and kind in _INTEGERS:
            (context,) = _read(file, _INTEGERS[kind])
            return Head(context=context if context > 0 else None)
        _skip(file, kind)
    return Head()


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _TEXT:
        _text(file)
    elif kind == _LIST:
        each, count = _read(file, "<IQ")
        if count > MOST or each == _LIST:
            raise _DamagedError
        if each == _TEXT:
            for _ in range(count):
                _text(file)
        else:
            file.seek(_size(each) * count, 1)
    else:
        file.seek(_size(kind), 1)


def _size(kind: int) -> int:
    size = _SIZES[kind] if kind < len(_SIZES) else None
    if size is None:
        raise _DamagedError
    return size


def _text(file: BinaryIO) -> bytes:
    (length,) = _read(file, "<Q")
    if length > LONGEST:
        raise _DamagedError
    text = file.read(length)
    if len(text) < length:
        raise _DamagedError
    return text


def _read(file: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, file.read(struct.calcsize(form)))
