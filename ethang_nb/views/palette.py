"""Palette: one colour, letter and word per slice, in light and dark. Colour is never the only sign.

Chosen so that every pair stays apart under the three kinds of colour blindness, and so that each letter is
legible on its own colour (a test measures both).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "INKS",
    "SWATCHES",
    "Ink",
    "Swatch",
    "custom_properties",
    "slice_classes",
    "swatch",
]

DARK_INK, LIGHT_INK = "#10151c", "#fff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Swatch:
    """How one slice is drawn: its name in the budget, a class name, a letter, its colours and the letter's."""

    name: str
    slug: str
    letter: str
    light: str
    dark: str
    on_light: str = LIGHT_INK
    on_dark: str = DARK_INK


SWATCHES = (
    Swatch(name="system", slug="system", letter="S", light="#22374f", dark="#cfd6e4"),
    Swatch(name="tools", slug="tools", letter="T", light="#6a7082", dark="#64749a", on_dark=LIGHT_INK),
    Swatch(
        name="project",
        slug="project",
        letter="P",
        light="#a0bad2",
        dark="#4f5361",
        on_light=DARK_INK,
        on_dark=LIGHT_INK,
    ),
    Swatch(name="core", slug="core", letter="C", light="#5f259f", dark="#9457d0", on_dark=LIGHT_INK),
    Swatch(name="task", slug="task", letter="K", light="#c293f3", dark="#a9a6d8", on_light=DARK_INK),
    Swatch(name="handoff notes", slug="notes", letter="N", light="#1c66a8", dark="#45a0f0"),
    Swatch(
        name="recalled memory", slug="memory", letter="M", light="#8f8030", dark="#8c9128", on_light=DARK_INK
    ),
    Swatch(name="history", slug="history", letter="H", light="#40b096", dark="#459f84", on_light=DARK_INK),
    Swatch(name="tool output", slug="output", letter="O", light="#e39f28", dark="#f7cb70", on_light=DARK_INK),
    Swatch(name="images", slug="images", letter="I", light="#97324a", dark="#f78fab"),
)
"""In the order of assembly, as `SLICES` of the budget."""

_OTHER = Swatch(name="", slug="tools", letter="?", light="#6a7082", dark="#64749a", on_dark=LIGHT_INK)
_BY_NAME = {item.name: item for item in SWATCHES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ink:
    """A colour of text or lines: JupyterLab's own variable where there is one, else ours in light and dark."""

    name: str
    light: str
    dark: str
    host: str = ""


INKS = (
    Ink(name="ink", light="#1d2430", dark="#e4e8ee", host="--jp-ui-font-color1"),
    Ink(name="dim", light="#566070", dark="#a3aebc", host="--jp-ui-font-color2"),
    Ink(name="paper", light="#fff", dark="#15191f", host="--jp-layout-color1"),
    Ink(name="warn", light="#a35200", dark="#f2aa66"),
    Ink(name="stop", light="#b42318", dark="#ff8f82"),
    Ink(name="ok", light="#1c7446", dark="#66cb92"),
)


TINTS = {"line": 24, "faint": 11, "shade": 5}
"""Lines and grounds: so many per cent of the ink, so that they suit whatever ground the host has."""


def swatch(name: str) -> Swatch:
    """The swatch of a slice; the grey of tools for a name that is not a slice."""
    return _BY_NAME.get(name, _OTHER)


def custom_properties() -> str:
    """Declarations of the inks as `--ink`, `--dim` and so on, for the root of a view.

    Browsers from before `light-dark()` fall back to the host's own ink on no background: legible, only plain.
    """
    tints = [f"--{name}:color-mix(in srgb,var(--ink) {part}%,transparent)" for name, part in TINTS.items()]
    return ";".join([*(f"--{item.name}:{_hosted(item)}" for item in INKS), *tints])


def slice_classes() -> str:
    """One rule per slice: its colour as `--c`, and its letter's colour as `--o` where that is not the usual one."""
    usual = f"[class*=eth-c-]{{--o:{_both(LIGHT_INK, DARK_INK)}}}"
    return usual + "".join(
        f".eth-c-{item.slug}{{--c:{_both(item.light, item.dark)}{_letter(item)}}}" for item in SWATCHES
    )


def _hosted(item: Ink) -> str:
    ours = _both(item.light, item.dark)
    return f"var({item.host},{ours})" if item.host else ours


def _letter(item: Swatch) -> str:
    """The letter's colour, where it is not the usual light on dark and dark on light."""
    usual = (item.on_light, item.on_dark) == (LIGHT_INK, DARK_INK)
    return "" if usual else f";--o:{_both(item.on_light, item.on_dark)}"


def _both(light: str, dark: str) -> str:
    return light if light == dark else f"light-dark({light},{dark})"
