"""Which counter a model gets, and how far it may lie from the model's own. Only the model's own is called exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ethang_nb.context.counting import TokenCounter
from ethang_nb.tokens.estimate import EstimatedCounter
from ethang_nb.tokens.exact import ExactCounter
from ethang_nb.tokens.ranks import ENCODINGS

__all__ = ["FAMILIES", "Family", "counter", "family_of", "family_ratio"]

_DEFAULT = "o200k_base"
_OFFLINE = ("reader", "script")  # models of our own: what we count is what they are given
_OPEN_WEIGHTS = (
    "gpt-oss"  # served anywhere, under many spellings: gpt-oss-20b, gpt-oss:20b, gpt-oss-20b-MXFP4.gguf
)
_ROUTES = ("openrouter/openai/", "openai/", "openai:", "azure/")
"""Where a model's name is OpenAI's own. Azure's deployments have names of their own; most people keep the model's."""
# Other names of the same pieces and merges; they add special tokens, which are plain text here.
_SAME_TEXT = {"o200k_harmony": "o200k_base"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Models of whose tokenizers we know the same. `ratio` is per mille, never under 1,000."""

    name: str
    ratio: int
    reason: str


_OWN = Family(
    name="own tokenizer",
    ratio=1_000,
    reason="its tokenizer is the one we count with, so a text has the count the provider will give it",
)
_LOCAL = Family(
    name="offline",
    ratio=1_000,
    reason="a model of ours that reads what we count and reports our own count",
)
_UNNAMED = Family(
    name="not named",
    ratio=1_000,
    reason="where no model is named nobody's tokenizer can differ; the o200k count itself is what is asked for",
)
_UNKNOWN = Family(
    name="unknown tokenizer",
    ratio=1_300,  # ► DESIGN 5, Counting
    reason=(
        "its tokenizer is not ours. cl100k, an older one, counts within 5 % of o200k for English, code, JSON and "
        "base64 and two fifths more for accented, Chinese, Japanese and Korean text (`tests.bench tokens`); the "
        "ratio stands between the two until the provider's first report takes its place"
    ),
)
FAMILIES: tuple[Family, ...] = (_OWN, _LOCAL, _UNNAMED, _UNKNOWN)


def counter(model_or_encoding: str | None = None) -> TokenCounter:
    """The counter for a model id, with its provider and options or without, an encoding name, or nothing named.

    OpenAI's models (at OpenAI, Azure and through OpenRouter), its open weights wherever they run, the encodings
    shipped and our offline models count exactly; everything else, and None, is an o200k count labelled `estimated`.
    No name is an error: an unknown model is worth an estimate too.
    """
    return _counter(_encoding(model_or_encoding) if model_or_encoding else None)


@cache
def _counter(encoding: str | None) -> TokenCounter:
    return ExactCounter(name=encoding) if encoding in ENCODINGS else EstimatedCounter(name=_DEFAULT)


def family_ratio(model: str | None) -> int:
    """Per mille by which a model's own tokenizer may count more than our counter, before any report.

    It divides the limits and never touches a count. The highest of the last reports replaces it.
    """
    return family_of(model).ratio


def family_of(model: str | None) -> Family:
    """The family a model belongs to, with its ratio and the reason for it."""
    if not model:
        return _UNNAMED
    if _is_offline(model):
        return _LOCAL
    return _OWN if _encoding(model) in ENCODINGS else _UNKNOWN


def _is_offline(name: str) -> bool:
    return name.partition("?")[0].partition(":")[0] in _OFFLINE


def _encoding(name: str) -> str | None:
    """The encoding that `name` is, or that the model of that name uses, where that is known."""
    if name in ENCODINGS or name in _SAME_TEXT:
        return _SAME_TEXT.get(name, name)
    if _is_offline(name):
        return _DEFAULT
    return _openai_encoding(_base_model(name))


def _base_model(name: str) -> str:
    """What OpenAI calls the model that an id means; "" where the id says that it is another's.

    An id may have options (`openai/gpt-5?wire=chat`), a route (`openrouter/openai/gpt-4o`) with its own word on how
    (`:nitro`), or be of a fine-tune (`ft:gpt-4.1-2025-04-14:org::id`).
    """
    name = name.partition("?")[0]
    last = name.rpartition("/")[2].lower()
    if last.startswith(_OPEN_WEIGHTS):
        return last
    for route in _ROUTES:
        if name.startswith(route):
            name = name.removeprefix(route)
            break
    return "" if "/" in name else name.removeprefix("ft:").partition(":")[0]


def _openai_encoding(model: str) -> str | None:
    from tiktoken.model import encoding_name_for_model

    if model.startswith(_OPEN_WEIGHTS):
        return _DEFAULT
    try:
        encoding = encoding_name_for_model(model)
    except KeyError:
        return None
    return _SAME_TEXT.get(encoding, encoding)
