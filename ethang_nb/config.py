"""Settings and where each one comes from: argument > %config > ethang.toml > environment > default.

`ethang.toml` lies in the project folder and has the table `[ethang]`, a table `[policies.NAME]` for each policy of
one's own, `[providers.NAME]` for where models are reached and `[models."PROVIDER/MODEL"]` for what is known of one.
What stands outside of any table, or in one whose name is nearly that, is told and not passed over. Reading the settings
makes nothing and changes nothing; a value that cannot be right is one error that names its place and what is allowed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from ethang_nb.context.policies import POLICIES
from ethang_nb.context.policy import Policy
from ethang_nb.context.policy_table import BASE, policy_from_table
from ethang_nb.context.window import LARGEST, SMALLEST
from ethang_nb.errors import BadPolicy, BadWindow, Misuse, Unknown, nearest

__all__ = [
    "DEFAULTS",
    "FILE",
    "NAMES",
    "VARIABLES",
    "Name",
    "Settings",
    "Tables",
    "check_model",
    "checked",
    "joined",
    "named_policy",
    "own_policies",
    "policy_from_table",
    "provider_tables",
    "settings",
    "steps",
]

Name = Literal["model", "window", "policy", "summariser", "models", "cassette"]
FILE = "ethang.toml"
TABLE = "ethang"
POLICY_TABLES = "policies"
PROVIDER_TABLES = "providers"
MODEL_TABLES = "models"
OTHER_TABLES = (POLICY_TABLES, PROVIDER_TABLES, MODEL_TABLES)

Tables = Mapping[str, Mapping[str, Any]]
"""What is said of providers, by name, and under `models` of their models. Their own room knows what may stand there."""
DEFAULTS: Mapping[Name, Any] = MappingProxyType(
    {
        "model": "reader",
        "window": None,
        "policy": "ethang",
        "summariser": None,
        "models": (),
        "cassette": None,
    }
)
VARIABLES: Mapping[Name, str] = MappingProxyType(
    {
        "model": "ETHANG_MODEL",
        "window": "ETHANG_WINDOW",
        "policy": "ETHANG_POLICY",
        "summariser": "ETHANG_SUMMARISER",
    }
)
"""Not every setting has one: ETHANG_CASSETTE says how cassettes are used, not which."""
_EXAMPLES: Mapping[Name, str] = MappingProxyType(
    {"model": "reader", "policy": "ethang", "summariser": "openai/gpt-5-mini", "cassette": "demo"}
)
NAMES: tuple[str, ...] = tuple(DEFAULTS)
HOME = "ETHANG_HOME"
MOST_STEPS = 1_000_000  # ► steps of one run; beyond this a number is a slip

Layer = tuple[str, Mapping[str, Any]]
"""A place that settings come from, by name, and what it gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a new session gets. `window` in tokens, None: the model's own. `home` is where the record lies if moved.

    `summariser` and `cassette` are None where nobody named one, `models` those among which a summariser is looked for.
    `providers` are the tables of all places together; a provider's own is of one place, the first that has it.

    `sources` says of each value where it was found: "argument", "%config", "ethang.toml", the name of the
    variable, or "default".
    """

    model: str
    window: int | None
    policy: str
    summariser: str | None
    models: tuple[str, ...]
    cassette: str | None
    providers: Tables
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
        variable = VARIABLES.get(name, "")
        found[name], sources[name] = default, "default"
        last: Layer = (variable, {name: environ.get(variable, "").strip() or None if variable else None})
        for source, values in (*layers, last):
            if values.get(name) is not None:
                found[name], sources[name] = checked(name, values[name], source, policies), source
                break
    found["providers"], sources["providers"] = _providers(
        [*layers[:2], (FILE, {"providers": _tables(whole)})]
    )
    home = environ.get(HOME, "").strip()
    sources["home"] = HOME if home else "default"
    return Settings(**found, home=_home(home) if home else None, sources=MappingProxyType(sources))


def checked(name: Name, value: Any, source: str, policies: Iterable[str] = POLICIES) -> Any:
    """A value as the setting of that name holds it. `source` is named where it is wrong; `policies` are those known.

    A model is any text here: whether there is one of that id says `check_model`.
    """
    if name == "window":
        return _tokens(value, source)
    if name == "models":
        return _listed(value, source)
    if not isinstance(value, str) or not value.strip():
        raise Misuse(
            f"{_place(name, source)} is {_short(value)}; give a name in quotes, as in {_EXAMPLES[name]!r}"
        )
    text = value.strip()
    if name == "policy" and text not in (known := tuple(policies)):
        raise Unknown(_kind(name, source), text, known)
    return text


def check_model(
    model: str, find: Callable[[str], object], source: str = "argument", name: Name = "model"
) -> None:
    """Raises Unknown for an id that `find` knows nothing of: its place, and all of it unless a known word is near.

    `name` is the setting that holds the id.
    """
    try:
        find(model)
    except Unknown as error:
        if error.kind != "model":  # one of its options
            kind = error.kind if source == "argument" else f"{error.kind}, {_kind(name, source)},"
            raise Unknown(kind, error.name, error.known, meant=error.meant) from None
        head = model.partition("?")[0]
        word = head if error.meant else error.name if nearest(error.name, error.known) else model
        raise Unknown(_kind(name, source), word, error.known, meant=error.meant) from None


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
    except (ValueError, RecursionError) as error:  # tomllib lets through what int() and the stack cannot hold
        why = " ".join(str(error).split())
        raise Misuse(f"{FILE} is not TOML: {why[:200]}; mend or remove {path}") from None
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


def _listed(value: Any, source: str) -> tuple[str, ...]:
    """Model ids, as a list or as a text with commas between them."""
    items = value.split(",") if isinstance(value, str) else value
    whole = isinstance(items, list | tuple) and all(isinstance(item, str) and item.strip() for item in items)
    if not whole:
        raise Misuse(
            f"{_place('models', source)} is {_short(value)}; give model ids in a list, as in"
            " ['openai/gpt-5-mini', 'groq/openai/gpt-oss-20b']"
        )
    return tuple(dict.fromkeys(item.strip() for item in items))


def _refuse_outside(whole: Mapping[str, Any]) -> None:
    """What would be passed over without a word: a setting above the table, and a table with a slip in its name."""
    for key, value in whole.items():
        if not isinstance(value, dict) and key not in (TABLE, *OTHER_TABLES):
            raise Misuse(
                f"{FILE}: {_short(key)} stands outside of the table [{TABLE}]; put a line [{TABLE}] above it, and under"
                f" that what you want to set: {', '.join(DEFAULTS)}"
            )
        if TABLE not in whole and nearest(key, (TABLE,)):
            raise Misuse(f"{FILE} has a table [{key[:60]}] and none called [{TABLE}]; write [{TABLE}]")
        if key not in OTHER_TABLES and (near := nearest(key, OTHER_TABLES)) and near not in whole:
            raise Misuse(f"{FILE} has a table [{key[:60]}]; {_MEANT[near]}")


_MEANT = {
    POLICY_TABLES: f"a policy of your own is a table [{POLICY_TABLES}.NAME]",
    PROVIDER_TABLES: f"where models are reached stands in a table [{PROVIDER_TABLES}.NAME]",
    MODEL_TABLES: f'what is known of a model stands in a table [{MODEL_TABLES}."PROVIDER/MODEL"]',
}


# ---- providers and models


def provider_tables(folder: Path | str | None = None) -> Tables:
    """The tables of providers and models in `ethang.toml` of a project folder (None: the current one), by provider.

    Raises Misuse for what is no table. What may stand in one is checked where a model of it is named.
    """
    return _tables(_from_file(_path(folder)))


def _tables(whole: Mapping[str, Any]) -> Tables:
    found = {name: dict(table) for name, table in _inner(whole, PROVIDER_TABLES, "mine").items()}
    for model, table in _inner(whole, MODEL_TABLES, '"vllm/qwen"').items():
        provider, _, name = model.partition("/")
        if not provider or not name:
            raise Misuse(
                f"{FILE}: [{MODEL_TABLES}.{_short(model)}] has no provider; name the model as in"
                f' [{MODEL_TABLES}."vllm/qwen"]'
            )
        said = found.setdefault(provider, {})
        said["models"] = {**said.get("models", {}), name: table}
    return MappingProxyType(found)


def _inner(whole: Mapping[str, Any], key: str, example: str) -> Mapping[str, Mapping[str, Any]]:
    tables = whole.get(key, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise Misuse(f"{FILE}: [{key}] holds one table for each, as in [{key}.{example}]")
    return tables


def joined(first: Tables, second: Tables) -> Tables:
    """The tables of two places. A provider's table is taken whole from the first that has one.

    So a key never meets the address that another place names. Only what is said of a provider's models adds up. Raises
    Misuse for what is no table; what may stand in one is checked where a model of it is named.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for name in (*first, *second):
        ours, theirs = (_table(tables.get(name, {}), f"providers.{name}") for tables in (first, second))
        taken = ours if ours.keys() - {MODEL_TABLES} else theirs
        models = {
            model: table
            for each in (theirs, ours)
            for model, table in _table(each.get(MODEL_TABLES, {}), f"models of providers.{name}").items()
        }
        found[name] = {**taken, **({MODEL_TABLES: models} if models else {})}
    return MappingProxyType(found)


def _table(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        # Not its text, which is recorded and shown: somebody may have put a key there.
        raise Misuse(
            f"{place[:80]} is {'None' if value is None else f'of type {type(value).__name__}'}; give a table, as in"
            f" {_TABLE_OF_MODELS if place.startswith(MODEL_TABLES) else _TABLE_OF_PROVIDER}"
        )
    return value


_TABLE_OF_PROVIDER = '{"base_url": "http://127.0.0.1:8000/v1"}'
_TABLE_OF_MODELS = '{"qwen": {"total": 32768}}'


def _providers(layers: Iterable[Layer]) -> tuple[Tables, str]:
    """The tables of all places together, and which places these are."""
    found: Tables = MappingProxyType({})
    places = []
    for place, values in layers:
        tables = values.get("providers") or {}
        if not isinstance(tables, Mapping):
            raise Misuse(
                f"providers in {place} is {type(tables).__name__}; give tables by name, as in"
                ' {"mine": {"base_url": "http://127.0.0.1:8000/v1"}}'
            )
        found = joined(found, tables)
        places += [place] if tables else []
    return found, ", ".join(places) or "default"


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
    return (
        name if source == "argument" else source if source == VARIABLES.get(name) else f"{name} in {source}"
    )


def _kind(name: Name, source: str) -> str:
    return name if source == "argument" else f"{name} in {source}"


def _short(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
