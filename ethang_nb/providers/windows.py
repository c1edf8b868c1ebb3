"""The window that was meant: tokens, a model id, a Window, or nothing but the model itself."""

from __future__ import annotations

from ethang_nb.context.window import Window
from ethang_nb.errors import BadWindow, Unknown
from ethang_nb.providers.registry import ModelFacts, facts

__all__ = ["window_of"]


def window_of(
    given: int | str | Window | None,
    *,
    model: str = "",
    reserve: int | None = None,
    effective: int | None = None,
    max_input: int | None = None,
) -> Window:
    """A Window. Tokens take their reserve from what `model` can put out, where that is known.

    None means the model's own window. Raises BadWindow where a model's window is unknown: it is never guessed.
    """
    if isinstance(given, Window):
        return given
    if isinstance(given, bool) or not isinstance(given, int | str | None) or (given is None and not model):
        raise BadWindow(
            f"window {given!r} is neither a number of tokens nor a model id; give one such as 8000"
        )
    if isinstance(given, int):
        known, _ = _facts(model)
        most = known.max_output if known else None
        return Window.of(given, reserve=reserve, max_output=most, effective=effective, max_input=max_input)
    name = model if given is None else given
    known, hint = _facts(name)
    if known is None:
        raise BadWindow(f"the window of model {name[:80]!r} is unknown{hint}; give a number of tokens")
    return Window.of(
        known.total,
        reserve=reserve,
        max_output=known.max_output,
        max_input=known.max_input if max_input is None else max_input,
        effective=effective,
        source=known.source,
    )


def _facts(model: str) -> tuple[ModelFacts | None, str]:
    """What is known of a model, and why nothing is."""
    try:
        return (facts(model) if model else None), ""
    except Unknown as error:
        return None, f" ({error})"
