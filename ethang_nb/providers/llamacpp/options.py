"""What an id such as `llamacpp/model.gguf?ctx=4096` asks for. Pure: no file is looked at, so an id can be replayed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePath

from ethang_nb.errors import Misuse, Unknown
from ethang_nb.providers.endpoints.table import WIRES, WireName
from ethang_nb.providers.options import pairs

__all__ = ["Wanted", "wanted"]

LEAST = 256  # tokens; llama.cpp ends the whole process for some smaller ones
MOST = 16_777_216  # ► tokens; the model's own limit is checked when its file is read
THREADS = 256  # ►
SEEDS = 4_294_967_294  # one below the number that means "any"

OPTIONS = ("ctx", "threads", "template", "seed", "wire")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A model to load, and how. `ctx` in tokens, None: as many as are usual; `template`: a file, "": the model's own.

    `name` is the file's name, which is all that is sent, shown and recorded of the path.
    """

    path: str
    ctx: int | None = None
    threads: int = 1
    template: str = ""
    seed: int | None = None

    @property
    def name(self) -> str:
        return PurePath(self.path).name


def wanted(model: str) -> tuple[Wanted, WireName]:
    """What the id asks for, and the wire format. Raises Unknown for an option nobody knows, Misuse for a bad one."""
    path = model.partition("?")[0].partition("/")[2]
    if not path.strip():
        raise Misuse(f"model {model[:80]!r} names no file; give its path, as in llamacpp/model.gguf")
    given = pairs(model)
    for option in given:
        if option not in OPTIONS:
            raise Unknown("option of llamacpp", option, OPTIONS)
    named = given.get("wire", "chat")
    wire = next((each for each in WIRES if each == named), None)
    if wire is None:
        raise Misuse(f"option wire={named[:40]!r} of llamacpp: allowed are {', '.join(WIRES)}")
    asked = Wanted(
        path=_absolute(path),
        ctx=_number("ctx", given, LEAST, MOST),
        threads=_number("threads", given, 1, THREADS) or 1,
        template=_absolute(given["template"]) if given.get("template") else "",
        seed=_number("seed", given, 0, SEEDS),
    )
    return asked, wire


def _absolute(path: str) -> str:
    try:
        return str(Path(path).expanduser().absolute())
    except RuntimeError:  # a ~ of nobody
        return str(Path(path).absolute())


def _number(name: str, given: dict[str, str], least: int, most: int) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    digits = text.replace("_", "").replace(",", "")
    if not re.fullmatch(r"\d{1,12}", digits, re.ASCII) or not least <= int(digits) <= most:
        raise Misuse(
            f"option {name}={text[:40]!r} of llamacpp: give a whole number from {least:,} to {most:,}"
        )
    return int(digits)
