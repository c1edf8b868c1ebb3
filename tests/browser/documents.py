"""The documents that views are drawn from here: the examples of the view library, and a large one made of `small`."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "labextension" / "tests" / "examples"
MANY = 10_000


def example(name):
    return json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))


def large(count=MANY, steps=2_000):
    """`small` with `count` segments and `steps` rows of its timeline: what recurs in it, over and over."""
    found = example("small")
    fixed = [segment for segment in found["segments"] if not segment["droppable"]]
    passing = [segment for segment in found["segments"] if segment["droppable"]] or fixed[-1:]
    more = (
        passing[number % len(passing)]
        | {"id": str(100_000 + number), "title": f"read_file part_{number:05d}.txt"}
        for number in range(count - len(fixed))
    )
    found["segments"] = [segment | {"position": position} for position, segment in enumerate([*fixed, *more])]
    rows = found["timeline"]
    found["timeline"] = [
        rows[number % len(rows)] | {"step": number + 1} for number in range(steps if rows else 0)
    ]
    return found


def documents():
    """Each by its name, from nothing to a lot."""
    return {name: example(name) for name in ("empty", "small", "hostile")} | {"large": large()}
