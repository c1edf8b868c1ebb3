"""Writes labextension/src/views/palette.css from ethang_nb/views/palette.py: `python -m tests.views.palette_css`."""

from __future__ import annotations

from pathlib import Path

from ethang_nb.views.palette import SWATCHES, Swatch, custom_properties

FILE = Path(__file__).parents[2] / "labextension/src/views/palette.css"
HEAD = (
    "/* Written by `python -m tests.views.palette_css` from ethang_nb/views/palette.py: change it there. */"
)


def sheet() -> str:
    """Inks for the root of a live view; each slice's colour `--c`, the ink on it `--o`, and its letter `--l`."""
    inks = ";\n  ".join(custom_properties().split(";"))
    return "\n".join([HEAD, f".eth-live {{\n  {inks};\n}}", *map(_slice, SWATCHES), ""])


def _slice(item: Swatch) -> str:
    colours = f"--c: light-dark({item.light}, {item.dark}); --o: light-dark({item.on_light}, {item.on_dark})"
    return f'.eth-live .e-c-{item.slug} {{ {colours}; --l: "{item.letter}" }}'


if __name__ == "__main__":
    FILE.write_text(sheet(), encoding="utf-8")
