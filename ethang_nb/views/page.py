"""Page: one self-contained HTML file with the views of a snapshot, to click through without a kernel.

Script, sheet, document and the texts that stand in the window are all inside it. A policy in its head forbids the
network and every script but that one; without script the static report stands there. The same snapshot gives the
same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ethang_nb.context.snapshot import Snapshot
from ethang_nb.errors import Misuse, PathRefused
from ethang_nb.views import bundle
from ethang_nb.views.limits import PAGE_TEXT, PAGE_TEXTS
from ethang_nb.views.live.texts import shortened
from ethang_nb.views.markup import Markup, el, lines, style_sheet
from ethang_nb.views.report import body, heading
from ethang_nb.views.run import RunLike
from ethang_nb.views.stylesheet import for_page

__all__ = ["interactive", "write"]

POLICY = (
    "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
DATA, LIVE, STATIC = "eth-data", "eth-live", "eth-static"  # ids of elements
# The two boxes stand under one another, equally wide; without script there is only the second.
PLACES = f"#{LIVE}{{box-sizing:border-box;max-width:896px;margin:0 auto 16px}}#{LIVE}:empty{{display:none}}"
PLACES += f"main>#{STATIC}{{border:0;padding:0;margin:0}}"

_EXPORT = re.compile(r"export\s*\{(?P<names>[^}]*)\};?\s*$")
_MOUNT = re.compile(r"(?P<local>[\w$]+)\s+as\s+mount\b|\b(?P<same>mount)\b")
_SURROGATE = re.compile("[\ud800-\udfff]")


def interactive(
    snapshot: Snapshot,
    run: RunLike | None = None,
    title: str = "",
    *,
    view: str = "context",
    options: Mapping[str, Any] | None = None,
    texts: Mapping[str, Mapping[str, Any]] | None = None,
) -> str:
    """The whole page. `view` is the id of the one it shows, `texts` what can be read of segments, by their ids.

    Raises Missing where the front end was not built.
    """
    name = heading(snapshot, title)
    kept, left_out = _within(texts or {})
    document = snapshot.to_json() | ({"left_out": left_out} if left_out else {})
    data = {"doc": document, "view": view, "options": dict(options or {}), "texts": kept}
    program = _program()
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", http_equiv="Content-Security-Policy", content=POLICY.format(digest=_digest(program))),
        el("meta", name="color-scheme", content="light dark"),
        el("title", name),
        style_sheet(for_page()),
        style_sheet(bundle.sheet() + PLACES),
    )
    static = el(
        "details", el("summary", "As text and tables"), body(snapshot, run, name), id=STATIC, open=True
    )
    page = lines(
        [
            el("div", id=LIVE),
            el("main", static, class_="eth-view eth-report"),
            Markup(f'<script type="application/json" id="{DATA}">{_inert(data)}</script>'),
            Markup(f'<script type="module">{program}</script>'),
        ]
    )
    return f"<!doctype html>\n{el('html', lines([head, el('body', page, class_='eth-page')]), lang='en')}\n"


def write(text: str, path: str | Path) -> Path:
    """Writes a page and returns where. Raises PathRefused, or Misuse for what is no path."""
    if not isinstance(path, str | Path) or not str(path).strip():
        raise Misuse(f"path={path!r} names no file; give one such as 'report.html'")
    file = Path(path).expanduser()
    try:
        file.write_bytes(text.encode())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise PathRefused(
            f"{str(path)[:200]!r} cannot be written: {why}; name a file in a folder that exists"
        ) from None
    return file


def _program() -> str:
    """The bundle as a script of a page: what it would export is called instead. It cannot close its element."""
    source = bundle.module()
    export = _EXPORT.search(source)
    mount = _MOUNT.search(export["names"]) if export else None
    if export is None or mount is None:
        raise ValueError("the bundle exports no `mount`")
    start = (
        f"const eth=id=>document.getElementById(id);"
        f"{mount['local'] or mount['same']}(eth('{LIVE}'),JSON.parse(eth('{DATA}').textContent));"
        f"eth('{STATIC}').open=false;"
    )
    program = source[: export.start()] + start
    return re.sub(r"<(?=/script|!--|script)", r"\\x3c", program, flags=re.I)


def _digest(program: str) -> str:
    return base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()


def _inert(data: Any) -> str:
    """JSON that is text to an HTML parser, whatever stands in it, and that can be written as UTF-8."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _within(texts: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, int]]:
    """The texts that a page has room for, long ones cut, and how many segments are left without theirs."""
    kept: dict[str, Any] = {}
    room, missing = PAGE_TEXTS, 0
    for segment, whole in texts.items():
        found = _shortened(whole)
        taken = sum(len(part["text"]) for part in found["parts"])
        if taken > room:
            missing += 1
            continue
        room -= taken
        kept[segment] = found
    return kept, ({"texts": missing} if missing else {})


def _shortened(whole: Mapping[str, Any]) -> dict[str, Any]:
    """What can be read of a segment in `PAGE_TEXT` characters; `cut` counts those that are not there."""
    parts, cut = shortened(whole["parts"], PAGE_TEXT)
    return {**whole, "parts": parts, "cut": int(whole.get("cut", 0)) + cut}
