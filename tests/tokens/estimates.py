"""How far the estimate lies from a tokenizer that is not the one it counts with: cl100k stands for "another one"."""

from dataclasses import dataclass

from ethang_nb.tokens.registry import counter
from tests.tokens.corpora import corpora

OURS = counter("a-model-nobody-knows")
TRUTH = counter("cl100k_base")


@dataclass(frozen=True, kw_only=True)
class Error:
    """Errors in per cent of the truth, below zero where too little is counted. `truth` in tokens."""

    kind: str
    truth: int
    estimate: float
    quarter: float
    """Of four characters a token, which many trimmers use."""


def errors(length=200_000):
    return [_error(kind, text) for kind, text in corpora(length).items()]


def _error(kind, text):
    truth = TRUTH.count(text)
    return Error(
        kind=kind,
        truth=truth,
        estimate=100 * (OURS.count(text) / truth - 1),
        quarter=100 * (len(text) / 4 / truth - 1),
    )


def table(found):
    """As text: one line a kind."""
    head = f"{'':<10}{'cl100k tokens':>14}{'estimate (o200k)':>18}{'characters / 4':>16}"
    rows = [f"{row.kind:<10}{row.truth:>14,}{row.estimate:>+17.1f}%{row.quarter:>+15.1f}%" for row in found]
    return "\n".join([head, *rows])
