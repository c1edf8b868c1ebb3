"""Stored: the snapshot as data in a stored output, from which a notebook that is opened again draws its views.

It is the document of `Snapshot.to_json`, cut like every stored output: long lists keep their first quarter and
their end, texts are previews, and `left_out` counts what is missing. The same snapshot gives the same data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ethang_nb.context.snapshot import VERSION, Snapshot
from ethang_nb.views.excerpt import excerpt
from ethang_nb.views.limits import DATA_BYTES, OUTPUT_BYTES, PREVIEW, WORKED_OUT
from ethang_nb.views.plain import clip, line, visible

__all__ = ["MIME", "beside", "document", "live", "size"]

MIME = "application/vnd.ethang.snapshot+json"

# ► rows of each list where there is room; "left" and "facts" are those of one cleanup
ROWS = {
    "segments": 40,
    "timeline": 80,
    "diffs": 4,
    "left": 12,
    "facts": 12,
    "pins": 20,
    "notices": 12,
    "regrets": 12,
}
FEWEST = {"segments": 6, "timeline": 6, "diffs": 1, "left": 2, "facts": 2}
"""► What each list keeps as long as another can still give way."""
OF_A_DIFF = ("left", "facts")
_DEPTH = 6  # blanks before each line of data in a notebook file


def live(name: str) -> dict[str, Any]:
    """What is stored of a live view that has nothing to show yet: whose it is."""
    return {"version": VERSION, "live": line(name, PREVIEW)}


def beside(snapshot: Snapshot, *said: str) -> dict[str, Any]:
    """The snapshot as data, by its MIME type, in what these texts leave of a stored output; {} where it has no room."""
    room = OUTPUT_BYTES - sum(len(text.encode()) for text in said)
    data = document(snapshot, min(room, DATA_BYTES))
    return {MIME: data} if size(data) <= room else {}


def document(snapshot: Snapshot, room: int = DATA_BYTES) -> dict[str, Any]:
    """The document in at most `room` bytes; rows are taken away until it fits, so that each list keeps some."""
    whole = snapshot.to_json(digest=len(snapshot.segments) <= WORKED_OUT)
    rows = dict(ROWS)
    while True:
        cut: dict[str, Any] = _previewed(_cut(whole, rows))
        if size(cut) <= room or not any(rows.values()):
            return cut
        rows = _fewer(rows)


def _fewer(rows: Mapping[str, int]) -> dict[str, int]:
    """A quarter less of each list; of those that have come to their fewest only once all have."""
    left = {name: most * 3 // 4 for name, most in rows.items()}
    spared = {name: max(left[name], min(most, FEWEST.get(name, 0))) for name, most in rows.items()}
    return left if spared == dict(rows) else spared


def size(data: Mapping[str, Any]) -> int:
    """Bytes of `data` in a notebook file, which gives each value a line of its own."""
    text = json.dumps(data, ensure_ascii=False, indent=1)
    return len(text.encode()) + _DEPTH * (text.count("\n") + 1)


def _cut(whole: Mapping[str, Any], rows: Mapping[str, int]) -> dict[str, Any]:
    """The document with at most so many rows of each list, and `left_out` with how many there are more."""
    kept = dict(whole)
    missing = dict.fromkeys(rows, 0)

    def shortened(holder: dict[str, Any], name: str) -> None:
        if isinstance(holder.get(name), list):
            found = excerpt(holder[name], rows[name])
            holder[name] = [*found.head, *found.tail]
            missing[name] += found.hidden

    for name in rows:
        if name not in OF_A_DIFF:
            shortened(kept, name)
    kept["diffs"] = [dict(diff) for diff in kept["diffs"]]
    for diff in kept["diffs"]:
        for name in OF_A_DIFF:
            shortened(diff, name)
    kept["left_out"] = {name: count for name, count in missing.items() if count}
    return kept


def _previewed(data: Any) -> Any:
    """The data with every text cut to what a notebook may hold of one, and made visible."""
    if isinstance(data, str):
        return clip(visible(data[: PREVIEW + 1]), PREVIEW)
    if isinstance(data, Mapping):
        return {name: _previewed(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_previewed(item) for item in data]
    return data
