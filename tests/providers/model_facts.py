"""Makes `ethang_nb/providers/models/models.json` and its notice: `python -m tests.providers.model_facts LITELLM_WHEEL`.

Windows, outputs, prices and abilities come from the file that the wheel of litellm carries; the total window, where it
is more than what may be sent, and the models that litellm does not list come from the installed genai-prices. Both are
under the MIT licence. The same two packages give the same bytes: dates are those of the packages, never today.

    uv sync --group peers
    pip download --no-deps litellm==1.110.2 -d /tmp
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FACTS = ROOT / "ethang_nb" / "providers" / "models" / "models.json"
NOTICE = ROOT / "ethang_nb" / "providers" / "models" / "models.NOTICE.txt"
DATA = "litellm/model_prices_and_context_window_backup.json"
MODES = {"chat", "responses"}

PROVIDERS = {
    # litellm's word: ours. The first are our endpoints; the others are asked for by their windows and prices.
    "openai": "openai",
    "anthropic": "anthropic",
    "azure": "azure",
    "gemini": "gemini",
    "groq": "groq",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "xai": "xai",
    "together_ai": "together",
    "bedrock": "bedrock",
    "bedrock_converse": "bedrock",
    "cerebras": "cerebras",
    "dashscope": "dashscope",
    "deepinfra": "deepinfra",
    "fireworks_ai": "fireworks",
    "moonshot": "moonshot",
    "vertex_ai-anthropic_models": "vertex",
    "vertex_ai-language-models": "vertex",
    "zai": "zai",
}
PEERS = {
    # our word: that of genai-prices, whose models we take where litellm has none
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "groq": "groq",
    "openai": "openai",
    "openrouter": "openrouter",
    "xai": "x-ai",
}
FLAGS = {
    # our letter: the ability, and litellm's word for it. A small letter is yes, a capital one no.
    "f": ("functions", "supports_function_calling"),
    "i": ("images", "supports_vision"),
    "s": ("schema", "supports_response_schema"),
    "o": ("forced_tools", "supports_forced_tool_use"),
    "p": ("prefill", "supports_assistant_prefill"),
    "t": ("sampling", "supports_sampling_params"),
    "r": ("reasoning", "supports_reasoning"),
    "c": ("caching", "supports_prompt_caching"),
    "w": ("responses_only", ""),
}
COLUMNS = (
    "total",
    "max_input",
    "max_output",
    "input",
    "output",
    "read",
    "write",
    "flags",
    "cached_from",
    "source",
)
PICO = Decimal(10) ** 12  # 10⁻⁶ USD per million tokens is 10⁻¹² USD per token

Row = list[Any]


def main(wheel: Path, facts: Path = FACTS, notice: Path = NOTICE, lock: Path = ROOT / "uv.lock") -> None:
    """Writes both files. Ends the program where the wheel, or the peer, is not as this script knows them."""
    with zipfile.ZipFile(wheel) as archive:
        rows = json.loads(archive.read(DATA))
        licence = _text(archive, r"\.dist-info/licenses/LICENSE$")
        version = wheel.name.split("-")[1]
        date = json.loads(_text(archive, r"\.cdx\.json$|cyclonedx\.json$"))["metadata"]["timestamp"][:10]
    peer = metadata.version("genai-prices")
    sources = [
        {"name": f"litellm {version}", "date": date},
        {"name": f"genai-prices {peer}", "date": _locked(lock, "genai-prices", peer)},
        {"name": f"litellm {version}, total by genai-prices {peer}", "date": date},
    ]
    windows = _windows()
    models: dict[str, dict[str, Row]] = {}
    for provider, name, row in _litellm(rows):
        _totalled(row, windows.get((provider, name)) or windows.get((_twin(provider), name)))
        models.setdefault(provider, {}).setdefault(name, row)
    for provider, name, row in _peers():
        if name not in models.get(provider, {}):
            models.setdefault(provider, {})[name] = row
    facts.write_text(_written(models, sources), encoding="utf-8")
    notice.write_text(_notice(licence, version, peer), encoding="utf-8")
    print(f"{sum(map(len, models.values())):,} models, {facts.stat().st_size:,} bytes")


def _litellm(rows: dict[str, Any]) -> Iterator[tuple[str, str, Row]]:
    """The chat models whose window is known, by provider and the name that goes over the wire."""
    # An id with its provider's prefix before a bare one: both mean the same model, and the first that comes counts.
    for name, values in sorted(rows.items(), key=lambda item: ("/" not in item[0], item[0])):
        provider = PROVIDERS.get(values.get("litellm_provider", ""))
        window = values.get("max_input_tokens")
        if (
            provider is None
            or values.get("mode") not in MODES
            or not isinstance(window, int | float)
            or not window
        ):
            continue
        bare = re.sub(rf"^({'|'.join((*PROVIDERS, 'vertex_ai', provider))})/", "", name)
        if provider == "bedrock" and "/" in bare:
            continue  # the same models once more for each region and commitment
        most = values.get("max_output_tokens")
        prices = [_price(values.get(name)) for name in _COSTS]
        if prices[0] and prices[3] == 0:
            prices[3] = None  # nothing on top of the price of fresh input, which is not the same as free
        yield (
            provider,
            bare,
            [
                int(window),
                None,
                int(most) if isinstance(most, int | float) and most else None,
                *prices,
                _flags(values),
                int(values["prompt_cache_min_tokens"]) if values.get("prompt_cache_min_tokens") else None,
                0,
            ],
        )


_COSTS = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
)
_NO_CHAT = re.compile(
    r"embed|realtime|transcribe|audio|instruct-?\d|tts|image|moderation|whisper|rerank|guard|orpheus|omni"
)


def _price(cost: object) -> int | None:
    return None if cost is None else int((Decimal(str(cost)) * PICO).to_integral_value())


def _flags(values: dict[str, Any]) -> str:
    letters = ""
    for letter, (_, theirs) in FLAGS.items():
        said = values.get("mode") == "responses" or None if letter == "w" else values.get(theirs)
        letters += "" if said is None else letter if said else letter.upper()
    return letters


def _totalled(row: Row, window: int | None) -> None:
    """Sets total and max input apart where the two sources agree on both: total = max input + max output."""
    if window is not None and row[2] is not None and window == row[0] + row[2]:
        row[0], row[1], row[-1] = window, row[0], 2


def _twin(provider: str) -> str:
    return "openai" if provider == "azure" else provider


def _windows() -> dict[tuple[str, str], int]:
    """The total windows that genai-prices knows, by our provider and each name that it states in full."""
    return {
        (ours, name): model.context_window
        for ours, model in _peer_models()
        if model.context_window
        for name in _names(model.match)
    }


def _peers() -> Iterator[tuple[str, str, Row]]:
    for provider, model in _peer_models():
        # By its own name only: it prices variants alike whose windows differ.
        if model.context_window and not _NO_CHAT.search(model.id) and not model.id.endswith(":batch"):
            yield provider, model.id, [model.context_window, None, None, *_peer_prices(model), "", None, 1]


def _peer_models() -> Iterator[tuple[str, Any]]:
    from genai_prices.data import providers

    ours = {theirs: ours for ours, theirs in PEERS.items()}
    for provider in providers:
        if provider.id in ours:
            for model in provider.models:
                yield ours[provider.id], model


def _names(match: Any) -> Iterator[str]:
    if hasattr(match, "or_"):
        for one in match.or_:
            yield from _names(one)
    elif hasattr(match, "equals"):
        yield match.equals


def _peer_prices(model: Any) -> list[int | None]:
    """Base prices; None each where they depend on a date or an hour."""
    found = model.prices
    if isinstance(found, list):
        return [None] * 4
    names = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")
    return [_mtok(getattr(found, name, None)) for name in names]


def _mtok(price: Any) -> int | None:
    price = getattr(price, "base", price)
    return None if price is None else int((Decimal(price) * 1_000_000).to_integral_value())


def _written(models: dict[str, dict[str, Row]], sources: list[dict[str, str]]) -> str:
    """JSON with one model a line, so that a change of one shows as one."""
    head = {
        "about": "generated by tests/providers/model_facts.py; licences in models.NOTICE.txt",
        "prices": "1 = 10^-6 USD per million tokens",
        "columns": COLUMNS,
        "flags": {letter: ours for letter, (ours, _) in FLAGS.items()},
        "sources": sources,
    }
    lines = [f"{json.dumps(key)}:{_packed(value)}," for key, value in head.items()]
    blocks = []
    for provider, rows in sorted(models.items()):
        inner = ",\n".join(f"{json.dumps(name)}:{_packed(_short(row))}" for name, row in sorted(rows.items()))
        blocks.append(f"{json.dumps(provider)}:{{\n{inner}}}")
    return "{" + "\n".join(lines) + '\n"models":{\n' + ",\n".join(blocks) + "}}\n"


def _short(row: Row) -> Row:
    """Nothing and source 0 at the end need not be written."""
    row = list(row)
    while row[-1] in (None, 0, ""):
        row.pop()
    return row


def _packed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text(archive: zipfile.ZipFile, pattern: str) -> str:
    found = [name for name in archive.namelist() if re.search(pattern, name)]
    if len(found) != 1:
        raise SystemExit(
            f"the wheel has {len(found)} files like {pattern}; this script is for another version"
        )
    return archive.read(found[0]).decode()


def _locked(lock: Path, package: str, version: str) -> str:
    """The day the version was published, as the lock file has it."""
    text = lock.read_text(encoding="utf-8")
    found = re.search(
        rf'name = "{package}"\nversion = "{re.escape(version)}".*?upload-time = "([\d-]+)', text, re.S
    )
    if found is None:
        raise SystemExit(f"uv.lock has no {package} {version}; install the locked one: uv sync --group peers")
    return found[1]


def _notice(litellm: str, version: str, peer: str) -> str:
    files = metadata.distribution("genai-prices").files or []
    theirs = next(file for file in files if file.name == "LICENSE")
    return (
        "models.json is made from data of two packages. Their notices:\n\n"
        f"---- litellm {version}, {DATA} (the part under the MIT licence)\n\n{litellm.strip()}\n\n"
        f"---- genai-prices {peer}\n\n{Path(str(theirs.locate())).read_text(encoding='utf-8').strip()}\n"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
