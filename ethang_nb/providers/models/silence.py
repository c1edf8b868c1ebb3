"""Silence: why an endpoint does not say how large a model's window is, in words, and what helps.

Told is which of these it is: nobody answers there, it wants a key, it fails, or it answers and does not say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ethang_nb.errors import EthangError
from ethang_nb.providers.endpoints import credentials
from ethang_nb.providers.endpoints.table import Endpoint

__all__ = ["UNHEARD", "Silence", "reached", "why"]

SHOWN = 3  # ► models of a server that a line names

_NAMES = {"vllm": "vLLM", "llama-server": "llama-server", "lmstudio": "LM Studio", "ollama": "Ollama"}
_OF_THEIRS = {
    "ollama": "Ollama says it of models that run: start it there",
    "lmstudio": "LM Studio says it of models that are loaded: load it there",
}
UNHEARD = "no connection to "
"""How the fault of a host begins to which no connection came about."""


class Silence(EthangError):
    """An endpoint did not say it. The text is the cause, and behind a colon what helps."""


def reached(fault: EthangError) -> bool:
    """Whether there was an answer at all: those that came name their status."""
    return "HTTP " in str(fault)


def why(endpoint: Endpoint, address: str, model: str, heard: Sequence[EthangError | Any]) -> Silence:
    """The cause, from what each question brought: a fault, or the JSON in which the window does not stand."""
    host = urlsplit(address).netloc
    faults = [each for each in heard if isinstance(each, EthangError)]
    unheard = next((fault for fault in faults if not reached(fault)), None)
    if unheard is not None:
        return Silence(_unheard(endpoint, host, _first(unheard)))
    refused = next(
        (fault for fault in faults if any(f"HTTP {code}" in str(fault) for code in (401, 403))), None
    )
    if refused is not None:
        return Silence(f"{host} does not say it, {_first(refused)}: {credentials.about_key(endpoint)}")
    failed = next((fault for fault in faults if "HTTP 404" not in str(fault)), None)
    if failed is not None:
        said = _first(failed)
        return Silence(said if said.startswith(host) else f"{host} does not say it, {said}")
    served = [name for each in heard if not isinstance(each, EthangError) for name in _served(each)]
    if served and model not in served and endpoint.live in {"hosted", "models"}:
        more = f" and {len(served) - SHOWN} more" if len(served) > SHOWN else ""
        shown = ", ".join(credentials.mask(name)[:60] for name in served[:SHOWN])
        return Silence(f"{host} serves {shown}{more}, and no {model[:60]!r}")
    return Silence(
        f"{host} answers, but does not say it; {_OF_THEIRS.get(endpoint.live, 'many servers do not')}"
    )


def _unheard(endpoint: Endpoint, host: str, said: str) -> str:
    cause = said.removeprefix(f"{UNHEARD}{host}: ").removeprefix(f"{host} ")
    cause = cause[:1].lower() + cause[1:]
    who = _NAMES.get(endpoint.provider, "the server")
    if endpoint.live == "hosted" and not endpoint.moved:
        return f"{host} cannot be reached ({cause}): check the network"
    return f"nothing answers at {host} ({cause}): is {who} running there? start it"


def _first(fault: EthangError) -> str:
    """What happened, without the next step that stands behind a semicolon."""
    return str(fault).partition("; ")[0][:200]


def _served(answer: Any) -> list[str]:
    """The models that a list of the OpenAI API has."""
    rows = answer.get("data") if isinstance(answer, dict) else answer
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [name for name in names if isinstance(name, str) and name.isprintable()]
