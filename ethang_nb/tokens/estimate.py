"""The estimate: an o200k count that says of itself that the model's tokenizer is another one.

It is never corrected here. How far a family of models or a provider's reports lie from it divides the limits
(`context/window`), so that one text has one count wherever it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ethang_nb.tokens.exact import ExactCounter

__all__ = ["EstimatedCounter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedCounter:
    """Counts with the encoding called `name`, for a model that uses another one or was not named."""

    name: str
    how: Literal["estimated"] = "estimated"

    def count(self, text: str) -> int:
        """Tokens of `text` in the encoding that stands in for the model's."""
        return ExactCounter(name=self.name).count(text)

    def over(self, text: str, limit: int) -> bool:
        """Whether `count` is more than `limit`; reads no more of `text` than the answer needs."""
        return ExactCounter(name=self.name).over(text, limit)
