"""Settings and where each one comes from: argument > %config > ethang.toml > environment > default.

`ethang.toml` lies in the project folder and has one table, `[ethang]`. Reading the settings makes nothing and
changes nothing; a value that cannot be right is one error that names its place and what is allowed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from ethang_nb.context.policy import POLICIES
from ethang_nb.context.window import SMALLEST
from ethang_nb.errors import BadWindow, Misuse, Unknown

__all__ = ["DEFAULTS", "FILE", "NAMES", "VARIABLES", "Name", "Settings", "checked", "settings"]

Name = Literal["model", "window", "policy"]
FILE = "ethang.toml"
TABLE = "ethang"
DEFAULTS: Mapping[Name, Any] = MappingProxyType({"model": "reader", "window": None, "policy": "ethang"})
VARIABLES: Mapping[Name, str] = MappingProxyType(
    {"model": "ETHANG_MODEL", "window": "ETHANG_WINDOW", "policy": "ETHANG_POLICY"}
)
NAMES: tuple[str, ...] = tuple(DEFAULTS)
HOME = "ETHANG_HOME"
LARGEST = 100_000_000  # ► tokens; beyond this a number is a slip, not a window

Layer = tuple[str, Mapping[str, Any]]
"""A place that settings come from, by name, and what it gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a new session gets. `window` in tokens, None: the model's own. `home` is where the record lies if moved.

    `sources` says of each value where it was found: "argument", "%config", "ethang.toml", the name of the
    variable, or "default".
    """

    model: str
    window: int | None
    policy: str
    home: Path | None
    sources: Mapping[str, str]


def settings(
    arguments: Mapping[str, Any] | None = None,
    configured: Mapping[str, Any] | None = None,
    folder: Path | str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of a project folder (None: the current one); a value that is None counts as not given.

    Raises Misuse, BadWindow or Unknown, one line that names the place, the value and what is allowed.
    """
    environ = os.environ if environ is None else environ
    layers: list[Layer] = [
        ("argument", arguments or {}),
        ("%config", configured or {}),
        (FILE, _from_file(Path(folder or Path.cwd()) / FILE)),
    ]
    found: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, default in DEFAULTS.items():
        variable = VARIABLES[name]
        found[name], sources[name] = default, "default"
        last: Layer = (variable, {name: environ.get(variable, "").strip() or None})
        for source, values in (*layers, last):
            if values.get(name) is not None:
                found[name], sources[name] = checked(name, values[name], source), source
                break
    home = environ.get(HOME, "").strip()
    sources["home"] = HOME if home else "default"
    return Settings(**found, home=_home(home) if home else None, sources=MappingProxyType(sources))


def checked(name: Name, value: Any, source: str) -> Any:
    """A value as the setting of that name holds it. `source` is named where it is wrong.

    A model is any text here: which models there are is known to the providers.
    """
    if name == "window":
        return _tokens(value, source)
    if not isinstance(value, str) or not value.strip():
        raise Misuse(
            f"{_place(name, source)} is {_short(value)}; give a name in quotes, as in {DEFAULTS[name]!r}"
        )
    text = value.strip()
    if name == "policy" and text not in POLICIES:
        raise Unknown(_kind(name, source), text, POLICIES)
    return text


def _tokens(value: Any, source: str) -> int:
    digits = value.strip().replace(",", "").replace("_", "") if isinstance(value, str) else ""
    number = (
        int(digits)
        if digits.isascii() and digits.isdigit() and len(digits) < len(str(LARGEST)) + 1
        else value
    )
    if isinstance(number, bool) or not isinstance(number, int) or not SMALLEST <= number <= LARGEST:
        raise BadWindow(
            f"{_place('window', source)} is {_short(value)}; give a whole number of tokens from {SMALLEST:,} to"
            f" {LARGEST:,}"
        )
    return number


def _from_file(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else f"not UTF-8, at byte {error.start}"
        raise Misuse(f"{FILE} cannot be read: {why}; mend or remove {path}") from None
    try:
        table = tomllib.loads(text).get(TABLE, {})
    except tomllib.TOMLDecodeError as error:
        raise Misuse(f"{FILE} is not TOML: {error}; mend or remove {path}") from None
    if not isinstance(table, dict):
        raise Misuse(f"{FILE}: {TABLE} is {_short(table)}; it must be a table, as in [{TABLE}] window = 6000")
    for key in table:
        if key not in DEFAULTS:
            raise Unknown(f"setting in {FILE}", key, DEFAULTS)
    return table


def _home(text: str) -> Path:
    path = Path(text).expanduser()
    if path.exists() and not path.is_dir():
        raise Misuse(f"{HOME} is {_short(text)}, which is a file; give a folder, which may be a new one")
    return path


def _place(name: Name, source: str) -> str:
    return name if source == "argument" else source if source == VARIABLES[name] else f"{name} in {source}"


def _kind(name: Name, source: str) -> str:
    return name if source == "argument" else f"{name} in {source}"


def _short(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
