"""Bundle: the front end's scripts and sheet, as they were built into the package."""

from __future__ import annotations

from importlib.resources import files

from ethang_nb.errors import Missing

__all__ = ["module", "script", "sheet"]


def script() -> str:
    """The ES module of a widget: small, since it travels with each. Raises Missing where it was not built."""
    return _built("widget.js")


def module() -> str:
    """The same as it was before it was packed, for a page that lets no other script be loaded. Raises Missing."""
    return _built("page.js")


def sheet() -> str:
    """The style sheet of both. Raises Missing where it was not built."""
    return _built("widget.css")


def _built(name: str) -> str:
    try:
        return (files("ethang_nb") / "static" / name).read_text(encoding="utf-8")
    except OSError:
        raise Missing(
            f"ethang_nb/static/{name} is not there, so live views cannot be drawn; install ethang_nb again, or in a "
            "checkout build it: npm run build:widget in labextension/"
        ) from None
