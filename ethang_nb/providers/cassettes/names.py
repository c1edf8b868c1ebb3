"""What a cassette calls things: its own file, and models, so that the names are the same on every machine."""

from __future__ import annotations

import re
from pathlib import Path

from ethang_nb.errors import PathRefused, nearest_few

__all__ = ["SUFFIX", "beside", "machineless", "place", "portless"]

SUFFIX = ".cassette.jsonl"
LONGEST_NAME = 100  # ► characters
SHOWN = 3  # ► cassettes that a line names
_SEPARATOR = re.compile(r"[/\\]")
_NAME = re.compile(r"\w[\w .+@-]*")
_HERE = re.compile(r"\b(?:127\.0\.0\.1|localhost)\b(?::\d+)?|\[::1\](?::\d+)?")


def place(given: str | Path, folder: Path) -> tuple[Path, str]:
    """The file that a name or a path means, and how to call it."""
    text = str(given).strip()
    if not isinstance(given, str | Path) or not text or text == ".":
        raise PathRefused(
            f"cassette {given!r} names none; give a name such as demo, or the path of a {SUFFIX} file"
        )
    if len(Path(text).name) > LONGEST_NAME or not text.isprintable():
        raise PathRefused(f"cassette {text[:60]!r} is no name of a file; give a short one, such as demo")
    try:
        path = Path(text).expanduser()
        if isinstance(given, str) and path.name == text and not text.endswith(".jsonl"):
            if not _NAME.fullmatch(text):
                raise PathRefused(
                    f"cassette {text!r} is no name of a file; give letters and digits, as in demo"
                )
            path = Path(text + SUFFIX)
        elif not path.name.endswith(".jsonl"):
            path = path.with_name(path.name + SUFFIX)
        real, root = (folder / path).resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise PathRefused(f"cassette {text[:60]!r} cannot be used: {error}") from None
    inside = root in real.parents
    if not path.is_absolute() and not inside:
        raise PathRefused(
            f"cassette {text[:120]!r} leads out of the session's folder; give a path inside it, or a whole one"
        )
    if real.is_dir() or (real.exists() and not real.is_file()):
        raise PathRefused(f"cassette {text[:120]!r} is not a file; give another name")
    return real, real.relative_to(root).as_posix() if inside else real.name


def beside(path: Path) -> tuple[str, ...]:
    """The cassettes in the same folder that are spelt nearly as one that is not there."""
    try:
        names = {
            found.name.removesuffix(SUFFIX): found.name for found in sorted(path.parent.glob(f"*{SUFFIX}"))
        }
    except OSError:
        return ()
    return tuple(names[name] for name in nearest_few(path.name.removesuffix(SUFFIX), names, SHOWN))


def machineless(model: str, *, options: bool = False) -> str:
    """A model id as it is on every machine: a model file without its folder, and the options only if asked for."""
    head, mark, query = model.partition("?")
    provider, slash, name = head.partition("/")
    if name.lower().endswith(".gguf"):
        name = re.split(_SEPARATOR, name)[-1]
    kept = [_option(pair) for pair in query.split("&") if not pair.startswith("header.")] if options else []
    return portless(f"{provider}{slash}{name}" + (mark if any(kept) else "") + "&".join(kept))


def _option(pair: str) -> str:
    """An option of a model id; of a file the name alone."""
    name, equals, value = pair.partition("=")
    return f"{name}{equals}{re.split(_SEPARATOR, value)[-1]}" if name == "template" else pair


def portless(text: str) -> str:
    """`text` without the ports of servers on this machine, which are new every time."""
    return _HERE.sub("localhost", text)
