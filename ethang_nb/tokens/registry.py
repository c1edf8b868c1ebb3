"""Which counter a model gets. Only a tokenizer known to be the model's own is called exact."""

from __future__ import annotations

from functools import cache

from ethang_nb.context.counting import TokenCounter
from ethang_nb.tokens.estimate import EstimatedCounter
from ethang_nb.tokens.exact import ExactCounter
from ethang_nb.tokens.ranks import ENCODINGS

__all__ = ["counter"]

_DEFAULT = "o200k_base"
_OFFLINE = ("reader", "script")  # models of our own: what we count is what they are given
_OPEN_WEIGHTS = "gpt-oss"  # served under many spellings: gpt-oss-20b, gpt-oss:20b
_ROUTES = ("openai/", "openai:", "azure/")
# Other names of the same pieces and merges; they add special tokens, which are plain text here.
_SAME_TEXT = {"o200k_harmony": "o200k_base"}


@cache
def counter(model_or_encoding: str | None = None) -> TokenCounter:
    """The counter for a model id, an encoding name, or nothing named.

    OpenAI models, the encodings shipped and our offline models count exactly; everything else, and None, is
    an o200k count labelled `estimated`. No name is an error: an unknown model is worth an estimate too.
    """
    encoding = _encoding(model_or_encoding) if model_or_encoding else None
    if encoding in ENCODINGS:
        return ExactCounter(name=encoding)
    return EstimatedCounter(name=_DEFAULT)


def _encoding(name: str) -> str | None:
    """The encoding that `name` is, or that the model of that name uses, where that is known."""
    if name in ENCODINGS or name in _SAME_TEXT:
        return _SAME_TEXT.get(name, name)
    if name.partition("?")[0].partition(":")[0] in _OFFLINE:
        return _DEFAULT
    return _openai_encoding(_base_model(name))


def _base_model(name: str) -> str:
    """The model under a route (`openai/gpt-5`) or a fine-tune (`ft:gpt-4.1-2025-04-14:org::id`)."""
    for route in _ROUTES:
        name = name.removeprefix(route)
    return name.removeprefix("ft:").partition(":")[0] if name.startswith("ft:") else name


def _openai_encoding(model: str) -> str | None:
    from tiktoken.model import encoding_name_for_model

    if model.startswith(_OPEN_WEIGHTS):
        return _DEFAULT
    try:
        encoding = encoding_name_for_model(model)
    except KeyError:
        return None
    return _SAME_TEXT.get(encoding, encoding)
