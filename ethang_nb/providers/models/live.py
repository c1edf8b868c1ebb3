"""Live facts: what an endpoint itself says of a model's window, asked once, until `%ethang models` asks anew.

Only what is served counts: the length a model was trained for is not the window it is run with. Why an endpoint says
nothing is told as a Silence: whoever asked has other sources, and the words for a person where these are silent, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from ethang_nb.errors import EthangError, KeyMissing
from ethang_nb.providers.endpoints import credentials
from ethang_nb.providers.endpoints.table import Endpoint
from ethang_nb.providers.models.facts import ModelFacts, Prices
from ethang_nb.providers.models.silence import Silence, reached, why

__all__ = ["ask", "forget"]

SECONDS = 2.0  # ► for each question; a cell waits for it
DEAREST = 10**12  # ► 10⁻⁶ USD per million tokens; beyond this a number is no price

_WINDOWS = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
"""What servers call the window in their list of models: vLLM; OpenRouter and Together; Groq; Mistral; llama.cpp."""

_OUTPUTS = ("max_completion_tokens", "max_output_tokens")

_known: dict[tuple[str, str], ModelFacts] = {}


def ask(endpoint: Endpoint, model: str) -> ModelFacts:
    """What the endpoint says of the model. Raises Silence: it says nothing, is not there, or a key is not."""
    try:
        address = credentials.address(endpoint)
        key = (address, model)
        if key not in _known:
            found = _asked(endpoint, address, _headers(endpoint), model)
            _known[key] = replace(found, as_of=datetime.now(UTC).date().isoformat())
    except KeyMissing:
        name = credentials.missing(endpoint)
        without = f"{name} is not set, and without it" if name else "its key cannot be sent, and without it"
        raise Silence(f"{without} {endpoint.provider} was not asked: set it in the environment") from None
    known = _known[key]
    return replace(known, source=f"{known.source}, {known.as_of}")


def forget() -> None:
    """What was said is asked anew from now on, as after a server was started with another window."""
    _known.clear()


def _headers(endpoint: Endpoint) -> dict[str, str]:
    # OpenRouter's list is open to everybody; whoever has no key yet may still see how large a window is.
    if endpoint.provider == "openrouter" and credentials.missing(endpoint):
        return {}
    return credentials.headers(endpoint)


def _asked(endpoint: Endpoint, address: str, headers: Mapping[str, str], model: str) -> ModelFacts:
    """From the first question whose answer says it. Raises Silence."""
    heard: list[Any] = []
    for path, read in _QUESTIONS.get(endpoint.live, ()):
        url = _url(address, path.format(model=quote(model, safe="")))
        try:
            answer = _get(url, headers)
        except EthangError as fault:
            heard.append(fault)
            if not reached(fault):
                break  # nobody is there; another question would only wait as long
            continue
        found: ModelFacts | None = read(answer, model)
        if found is not None:
            return replace(found, source=f"the server's own {urlsplit(url).path}")
        heard.append(answer)
    raise why(endpoint, address, model, heard)


def _get(url: str, headers: Mapping[str, str]) -> Any:
    from ethang_nb.providers.http.line import get_json

    return get_json(url, headers, SECONDS)


def _url(address: str, path: str) -> str:
    """`path` behind the base URL; one that begins with a stroke stands at the server's root instead."""
    if not path.startswith("/"):
        return f"{address}/{path}"
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


# ---- what servers answer


def _listed(answer: Any, model: str) -> ModelFacts | None:
    """From a list of models as the OpenAI API has it, with the fields that servers add to it."""
    rows = [row for row in _items(answer, "data", "models") if isinstance(row, dict)]
    row = next((row for row in rows if model in {row.get("id"), row.get("name"), row.get("model")}), None)
    if row is None:
        return None
    places = [row, *(row[name] for name in ("meta", "top_provider") if isinstance(row.get(name), dict))]
    windows = [size for place in places for name in _WINDOWS if (size := _size(place.get(name)))]
    if not windows:
        return None
    total = min(windows)  # OpenRouter's own and that of the host behind it: the smaller one is refused first
    outputs = [size for place in places for name in _OUTPUTS if (size := _size(place.get(name)))]
    most = min(outputs) if outputs and min(outputs) < total else None
    return ModelFacts(total=total, max_output=most, source="", prices=_prices(row.get("pricing")))


def _props(answer: Any, _: str) -> ModelFacts | None:
    """From llama.cpp's /props: the window of one slot, which is what a request gets."""
    given = answer.get("default_generation_settings") if isinstance(answer, dict) else None
    total = _size(given.get("n_ctx")) if isinstance(given, dict) else None
    return None if total is None else ModelFacts(total=total, max_output=None, source="")


def _loaded(answer: Any, model: str) -> ModelFacts | None:
    """From LM Studio's own list: with how much a model was loaded; before that nobody knows."""
    rows = [answer, *_items(answer, "data")] if isinstance(answer, dict) else []
    for row in rows:
        if (
            isinstance(row, dict)
            and row.get("id") == model
            and (total := _size(row.get("loaded_context_length")))
        ):
            return ModelFacts(total=total, max_output=None, source="")
    return None


def _running(answer: Any, model: str) -> ModelFacts | None:
    """From Ollama's list of what runs: the window it was given, not the one it was trained for."""
    names = {model, model if ":" in model else f"{model}:latest"}
    for row in _items(answer, "models"):
        if isinstance(row, dict) and names & {row.get("name"), row.get("model")}:
            total = _size(row.get("context_length"))
            return None if total is None else ModelFacts(total=total, max_output=None, source="")
    return None


_QUESTIONS: Mapping[str, tuple[tuple[str, Any], ...]] = {
    "models": (("models", _listed), ("/props", _props)),
    "hosted": (("models", _listed),),
    # One model a server, called anything; a router that serves several must not be made to load one.
    "llama-server": (("/props?model={model}&autoload=false", _props), ("models", _listed)),
    "lmstudio": (("/api/v0/models/{model}", _loaded), ("/api/v0/models", _loaded)),
    "ollama": (("/api/ps", _running),),
}


def _items(answer: Any, *names: str) -> Iterator[Any]:
    if isinstance(answer, list):
        yield from answer
    elif isinstance(answer, dict):
        for name in names:
            found = answer.get(name)
            if isinstance(found, list):
                yield from found


def _size(value: Any) -> int | None:
    """A number of tokens; None for anything else, 0 and below included."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 < value <= 1_000_000_000 else None


def _prices(given: Any) -> Prices | None:
    """OpenRouter's prices, USD per token as text; None where there are none, or they vary."""
    if not isinstance(given, dict):
        return None

    def price(name: str) -> int | None:
        try:
            value = Decimal(str(given[name])) * 10**12
        except (KeyError, ArithmeticError):
            return None
        return int(value) if value.is_finite() and 0 <= value <= DEAREST else None

    found = Prices(
        input=price("prompt"),
        output=price("completion"),
        read=price("input_cache_read"),
        write=price("input_cache_write"),
    )
    return None if found == Prices() else found
