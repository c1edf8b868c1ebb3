"""Endpoints: where a provider's models are reached, in which wire format, and which variable holds its key, as a table.

A model id is `provider/model?options`. Options and a project's own tables may move a provider or add one; they carry
names of variables, never a key, and a provider that was moved no longer gets its key unless that is asked for by name.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import urlsplit

__all__ = ["ENDPOINTS", "WIRES", "Endpoint", "Tables", "WireName", "is_local"]

WireName = Literal["chat", "responses", "anthropic"]
WIRES: tuple[WireName, ...] = ("chat", "responses", "anthropic")

Tables = Mapping[str, Mapping[str, Any]]
"""What a person says of providers, by name.

That is wire, base_url, key (the NAME of a variable), headers, query, quirks and models.
"""

BEARER = "Bearer {}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One provider. `${NAME}` in base URL and headers is read from the environment when something is sent.

    `key` is the variable that holds the key, "" where there is none; `key_header` and `key_form` say how it is sent.
    `wire` "" leaves the wire format to what is known of the model. `moved`: somebody named another address than the
    provider's own. `live`: how it tells a model's window, "" where it does not; "hosted" is asked last, where the
    snapshot knows nothing, all others first.
    """

    provider: str
    base_url: str
    wire: WireName | Literal[""] = "chat"
    key: str = ""
    key_needed: bool = True
    key_header: str = "authorization"
    key_form: str = BEARER
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    live: Literal["", "hosted", "models", "llama-server", "ollama", "lmstudio"] = ""
    versioned_url: str = ""
    """Azure only: the address where the query names an `api-version`; `{model}` stands for the deployment."""
    moved: bool = False
    quirks: Mapping[str, Any] = field(default_factory=dict)
    """What a person says of how it differs, by the names of `Quirks`; it goes before what is known here."""
    withheld: str = ""
    """The variable whose key stays behind, since the provider was moved and nobody named one for the new address."""
    own: bool = False
    """Somebody's own name, from a table."""


def is_local(url: str) -> bool:
    """Whether a URL leads to this very machine. So does 0.0.0.0, as many a guide to a local server has it."""
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


# ---- the table; each address is the one its provider documents, and each variable the one its own client reads. An
# address and a key that stand in the same environment belong together.

_ROWS = (
    Endpoint(
        provider="openai",
        wire="",
        base_url="${OPENAI_BASE_URL:-https://api.openai.com/v1}",
        key="OPENAI_API_KEY",
    ),
    Endpoint(
        provider="anthropic",
        wire="anthropic",
        base_url="${ANTHROPIC_BASE_URL:-https://api.anthropic.com}/v1",
        key="ANTHROPIC_API_KEY",
        key_header="x-api-key",
        key_form="{}",
    ),
    Endpoint(
        provider="azure",
        wire="",
        base_url="${AZURE_OPENAI_ENDPOINT}/openai/v1",
        versioned_url="${AZURE_OPENAI_ENDPOINT}/openai/deployments/{model}",
        key="AZURE_OPENAI_API_KEY",
        key_header="api-key",
        key_form="{}",
    ),
    Endpoint(
        provider="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key="GEMINI_API_KEY",
    ),
    Endpoint(
        provider="openrouter",
        base_url="https://openrouter.ai/api/v1",
        key="OPENROUTER_API_KEY",
        live="models",
    ),
    Endpoint(
        provider="groq",
        base_url="https://api.groq.com/openai/v1",
        key="GROQ_API_KEY",
        live="hosted",
    ),
    Endpoint(
        provider="deepseek",
        base_url="https://api.deepseek.com/v1",
        key="DEEPSEEK_API_KEY",
    ),
    Endpoint(
        provider="mistral",
        base_url="https://api.mistral.ai/v1",
        key="MISTRAL_API_KEY",
        live="hosted",
    ),
    Endpoint(
        provider="xai",
        base_url="https://api.x.ai/v1",
        key="XAI_API_KEY",
    ),
    Endpoint(
        provider="together",
        base_url="https://api.together.xyz/v1",
        key="TOGETHER_API_KEY",
        live="hosted",
    ),
    Endpoint(
        provider="vllm",
        base_url="http://127.0.0.1:8000/v1",
        key="VLLM_API_KEY",
        key_needed=False,
        live="models",
    ),
    Endpoint(
        provider="llama-server",
        base_url="http://127.0.0.1:8080/v1",
        key="LLAMA_API_KEY",
        key_needed=False,
        live="llama-server",
    ),
    Endpoint(
        provider="lmstudio",
        base_url="http://127.0.0.1:1234/v1",
        key="LMSTUDIO_API_KEY",
        key_needed=False,
        live="lmstudio",
    ),
    Endpoint(
        provider="ollama",
        base_url="http://127.0.0.1:11434/v1",
        key="OLLAMA_API_KEY",
        key_needed=False,
        live="ollama",
    ),
)

ENDPOINTS: Mapping[str, Endpoint] = MappingProxyType({row.provider: row for row in _ROWS})
