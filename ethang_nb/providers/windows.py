"""The window that was meant: tokens, a model id, a Window, or nothing but the model itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ethang_nb.context.window import Window
from ethang_nb.errors import BadWindow, Unknown
from ethang_nb.providers.models.facts import ModelFacts
from ethang_nb.providers.registry import facts

__all__ = ["Find", "window_of"]

Find = Callable[[str], ModelFacts | None]
"""Says what is known of a model; None: nothing. May raise Unknown, and BadWindow with the cause."""


def window_of(
    given: int | str | Window | None,
    *,
    model: str = "",
    reserve: int | None = None,
    effective: int | None = None,
    max_input: int | None = None,
    find: Find | None = None,
) -> Window:
    """A Window. Tokens take their reserve from what `model` can put out, where that is known.

    None means the model's own window. `find` says what is known of a model; without it that is the registry, which asks
    an endpoint only where the window itself is wanted. Raises BadWindow where a model's window is unknown, with the
    cause where an endpoint was asked: it is never guessed.
    """
    if isinstance(given, Window):
        return given
    if isinstance(given, bool) or not isinstance(given, int | str | None) or (given is None and not model):
        raise BadWindow(
            f"window {given!r} is neither a number of tokens nor a model id; give one such as 8000"
        )
    if isinstance(given, int):
        known, _ = _facts(model, find or partial(facts, live=False))
        most = known.max_output if known else None
        return Window.of(given, reserve=reserve, max_output=most, effective=effective, max_input=max_input)
    name = model if given is None else given
    known, why = _facts(name, find or facts)
    if known is None:
        raise BadWindow(f"the window of model {name[:80]!r} is unknown{why}")
    return Window.of(
        known.total,
        reserve=reserve,
        max_output=known.max_output,
        max_input=known.max_input if max_input is None else max_input,
        effective=effective,
        source=known.source,
    )


def _facts(model: str, find: Find) -> tuple[ModelFacts | None, str]:
    """What is known of a model; else why nothing is, and what to do."""
    if not model:
        return None, ""
    try:
        known = find(model)
    except Unknown as error:
        return None, f" ({error}); give a number of tokens"
    if known is not None:
        return known, ""
    from ethang_nb.providers.models.lookup import advice

    return None, (
        f"; neither its own server nor the list of models that comes with ethang_nb says it; {advice(model)}"
    )
