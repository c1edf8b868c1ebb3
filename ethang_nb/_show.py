"""The one sanctioned seam upward: a value names its renderer by string, which is loaded only when it is shown.

A module named in `_view` gives `text(value) -> str` and `html(value) -> str`, and may give `data(value) -> dict`:
data by MIME type that is stored beside them. So the pure rooms need not import `views/`, and importing ethang_nb
loads none of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

__all__ = ["Shown"]


class Shown:
    """Mixin for values with a stable `text/plain` and a `text/html` that makes sense without CSS or script."""

    __slots__ = ()

    _view: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        """IPython takes a class's own `__repr__`, or a base's printer, before an inherited `_repr_pretty_`."""
        super().__init_subclass__(**options)
        cls._repr_pretty_ = Shown._repr_pretty_  # type: ignore[method-assign]

    def _render(self, form: str) -> str:
        return str(getattr(import_module(self._view), form)(self))

    def __str__(self) -> str:
        return self._render("text")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython's text/plain."""
        printer.text(f"{type(self).__name__}(...)" if cycle else self._render("text"))

    def _repr_html_(self) -> str:
        return self._render("html")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What is stored beside text and HTML; {} where the view gives no data."""
        if not getattr(self, "_view", ""):
            return {}
        data = getattr(import_module(self._view), "data", None)
        return {} if data is None else dict(data(self))
