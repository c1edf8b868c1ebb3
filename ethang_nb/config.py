"""Settings and where each one comes from: argument > %config > ethang.toml > environment > default.

`ethang.toml` lies in the project folder and has the table `[ethang]`, and a table `[policies.NAME]` for each policy of
one's own; what stands outside of any table, or in one whose name is nearly that, is told and not passed over. Reading
the settings makes nothing and changes nothing; a value that cannot be right is one error that names its place and what
is allowed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.window import SMALLEST, Levels
from ethang_nb.errors import BadPolicy, BadWindow, Misuse, Unknown, nearest

__all__ = [
    "DEFAULTS",
    "FILE",
    "NAMES",
    "VARIABLES",
    "Name",
    "Settings",
    "check_model",
    "checked",
    "named_policy",
    "own_policies",
    "policy_from_table",
    "settings",
    "steps",
]

Name = Literal["model", "window", "policy"]
FILE = "ethang.toml"
TABLE = "ethang"
POLICY_TABLES = "policies"
BASE = "ethang"
"""The policy that one of one's own starts from unless its table names another."""
DEFAULTS: Mapping[Name, Any] = MappingProxyType({"model": "reader", "window": None, "policy": "ethang"})
VARIABLES: Mapping[Name, str] = MappingProxyType(
    {"model": "ETHANG_MODEL", "window": "ETHANG_WINDOW", "policy": "ETHANG_POLICY"}
)
NAMES: tuple[str, ...] = tuple(DEFAULTS)
HOME = "ETHANG_HOME"
LARGEST = 100_000_000  # ► tokens; beyond this a number is a slip, not a window
MOST_STEPS = 1_000_000  # ► steps of one run; the same

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
    whole = _from_file(_path(folder))
    policies = (*POLICIES, *_policies(whole))
    layers: list[Layer] = [
        ("argument", arguments or {}),
        ("%config", configured or {}),
        (FILE, _settings_table(whole)),
    ]
    found: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, default in DEFAULTS.items():
        variable = VARIABLES[name]
        found[name], sources[name] = default, "default"
        last: Layer = (variable, {name: environ.get(variable, "").strip() or None})
        for source, values in (*layers, last):
            if values.get(name) is not None:
                found[name], sources[name] = checked(name, values[name], source, policies), source
                break
    home = environ.get(HOME, "").strip()
    sources["home"] = HOME if home else "default"
    return Settings(**found, home=_home(home) if home else None, sources=MappingProxyType(sources))


def checked(name: Name, value: Any, source: str, policies: Iterable[str] = POLICIES) -> Any:
    """A value as the setting of that name holds it. `source` is named where it is wrong; `policies` are those known.

    A model is any text here: whether there is one of that id says `check_model`.
    """
    if name == "window":
        return _tokens(value, source)
    if not isinstance(value, str) or not value.strip():
        raise Misuse(
            f"{_place(name, source)} is {_short(value)}; give a name in quotes, as in {DEFAULTS[name]!r}"
        )
    text = value.strip()
    if name == "policy" and text not in (known := tuple(policies)):
        raise Unknown(_kind(name, source), text, known)
    return text


def check_model(model: str, find: Callable[[str], object], source: str = "argument") -> None:
    """Raises Unknown for an id that `find` knows nothing of: its place, and all of it unless a known word is near."""
    try:
        find(model)
    except Unknown as error:
        name = error.name if nearest(error.name, error.known) else model
        raise Unknown(_kind("model", source), name, error.known) from None


def steps(text: str) -> int:
    """The most steps of a run, as `--steps` gives them. Raises Misuse."""
    number = _whole(text)
    if number is None or not 1 <= number <= MOST_STEPS:
        raise Misuse(f"--steps is {_short(text)}; give a whole number of steps from 1 to {MOST_STEPS:,}")
    return number


def _whole(text: str) -> int | None:
    """The number that these digits are, grouped or not; None where they are something else."""
    digits = text.strip().replace(",", "").replace("_", "")
    fits = digits.isascii() and digits.isdigit() and len(digits) <= len(str(LARGEST))
    return int(digits) if fits else None


def _tokens(value: Any, source: str) -> int:
    number = _whole(value) if isinstance(value, str) else value
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
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Misuse(f"{FILE} is not TOML: {error}; mend or remove {path}") from None
    _refuse_outside(whole)
    return whole


def _path(folder: Path | str | None) -> Path:
    return Path(folder or Path.cwd()) / FILE


def _settings_table(whole: Mapping[str, Any]) -> Mapping[str, Any]:
    table = whole.get(TABLE, {})
    if not isinstance(table, dict):
        raise Misuse(f"{FILE}: {TABLE} is {_short(table)}; it must be a table, as in [{TABLE}] window = 6000")
    for key in table:
        if key not in DEFAULTS:
            raise Unknown(f"setting in {FILE}", key, DEFAULTS)
    return table


def _refuse_outside(whole: Mapping[str, Any]) -> None:
    """What would be passed over without a word: a setting above the table, and a table with a slip in its name."""
    for key, value in whole.items():
        if not isinstance(value, dict) and key not in (TABLE, POLICY_TABLES):
            raise Misuse(
                f"{FILE}: {_short(key)} stands outside of the table [{TABLE}]; put a line [{TABLE}] above it, and under"
                f" that what you want to set: {', '.join(DEFAULTS)}"
            )
        if TABLE not in whole and nearest(key, (TABLE,)):
            raise Misuse(f"{FILE} has a table [{key[:60]}] and none called [{TABLE}]; write [{TABLE}]")
        if POLICY_TABLES not in whole and nearest(key, (POLICY_TABLES,)):
            raise Misuse(
                f"{FILE} has a table [{key[:60]}]; a policy of your own is a table [{POLICY_TABLES}.NAME]"
            )


# ---- policies of one's own


def own_policies(folder: Path | str | None = None) -> Mapping[str, Policy]:
    """The policies that `ethang.toml` in a project folder (None: the current one) defines, by name.

    Raises Misuse, BadPolicy or Unknown, one line that names the file, the policy and its field.
    """
    return MappingProxyType(_policies(_from_file(_path(folder))))


def named_policy(name: str | Policy, folder: Path | str | None = None) -> Policy:
    """The policy of that name: one that ships, else one of the project folder's own; or the one given.

    Raises Unknown, and as `own_policies` does.
    """
    if isinstance(name, Policy):
        return name
    if not isinstance(name, str):
        raise BadPolicy(f"policy {name!r} is neither a name nor a Policy; known: {', '.join(POLICIES)}")
    if name in POLICIES:
        return POLICIES[name]
    own = own_policies(folder)
    if name not in own:
        raise Unknown("policy", name, (*POLICIES, *own))
    return own[name]


def policy_from_table(name: str, table: Mapping[str, Any]) -> Policy:
    """The policy that a table `[policies.NAME]` says: the knobs of `base` ("ethang") but for those that it names.

    `levels` are [nudge, cleanup, landing] or a table of the three; a knob that a policy need not have, such as reseed,
    is turned off with false. Raises BadPolicy or Unknown with policy and field.
    """
    if name in POLICIES:
        raise BadPolicy(f"policy {name!r} ships with ethang_nb; give yours another name, and base = {name!r}")
    knobs = dict(table)
    base = knobs.pop("base", BASE)
    if base not in POLICIES:
        raise Unknown(f"base of policy {name!r}", str(base), POLICIES)
    for key, value in knobs.items():
        if key not in _KNOBS:
            raise Unknown(f"field of policy {name!r}", key, (*_KNOBS, "base"))
        knobs[key] = None if value is False and key in _OPTIONAL else _knob(name, key, value)
    knobs.setdefault("about", f"{FILE}: as {base}, with knobs of your own")
    try:
        return replace(POLICIES[base], **knobs, name=name)
    except Unknown as error:
        kind = error.kind if repr(name) in error.kind else f"{error.kind} of policy {name!r}"
        raise Unknown(kind, error.name, error.known) from None


_KNOBS = tuple(field.name for field in fields(Policy) if field.name != "name")
_OPTIONAL = tuple(field.name for field in fields(Policy) if field.default is None)


def _knob(name: str, key: str, value: Any) -> Any:
    """A value as the field of a policy holds it; whether it is in range says the policy."""
    match key:
        case "levels":
            return _levels(name, value)
        case "stages":
            if not isinstance(value, list) or not all(isinstance(stage, str) for stage in value):
                wanted = 'a list of names, as in ["collapse", "evict"]'
                raise BadPolicy(f"policy {name!r}: stages are {_short(value)}; give {wanted}")
            return tuple(value)
        case "about" if not isinstance(value, str):
            raise BadPolicy(f"policy {name!r}: about is {_short(value)}; give a text")
        case "nudge_once" if not isinstance(value, bool):
            raise BadPolicy(f"policy {name!r}: nudge_once is {_short(value)}; give true or false")
    return value


def _levels(name: str, given: Any) -> Levels:
    names = [field.name for field in fields(Levels)]
    if isinstance(given, Mapping):
        for key in given:
            if key not in names:
                raise Unknown(f"level of policy {name!r}", key, names)
        given = [given.get(key) for key in names]
    whole = isinstance(given, list) and all(type(level) is int for level in given)
    if not whole or len(given) != len(names):
        raise BadPolicy(
            f"policy {name!r}: levels are {_short(given)}; give nudge, cleanup and landing in per mille, as in"
            " levels = [700, 800, 400]"
        )
    return Levels(**dict(zip(names, given, strict=True)))


def _policies(whole: Mapping[str, Any]) -> dict[str, Policy]:
    tables = whole.get(POLICY_TABLES, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise Misuse(
            f"{FILE}: [{POLICY_TABLES}] holds one table for each policy, as in [{POLICY_TABLES}.mine] base = {BASE!r}"
        )
    found: dict[str, Policy] = {}
    for name, table in tables.items():
        try:
            found[name] = policy_from_table(name, table)
        except Unknown as error:
            raise Unknown(f"{error.kind} in {FILE}", error.name, error.known) from None
        except BadPolicy as error:
            raise BadPolicy(f"{FILE}: {error}") from None
    return found


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
