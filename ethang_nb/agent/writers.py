"""Writers: who is asked to write a handoff note, and how much that one can be sent.

Its provider is made when the first note is asked of it, and closed with the session.
"""

from __future__ import annotations

from dataclasses import dataclass

from ethang_nb.agent.desk import Desk
from ethang_nb.context.counting import TokenCounter
from ethang_nb.context.notes import NoteTask
from ethang_nb.providers.models.facts import Prices
from ethang_nb.providers.protocol import Provider
from ethang_nb.providers.summariser import choose
from ethang_nb.tokens.registry import counter, family_ratio

__all__ = ["Writer", "writer_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A model that writes a note, and why it does. `hard`: tokens, by `counter`, that fit into its request."""

    model: str
    why: str
    provider: Provider
    counter: TokenCounter
    hard: int
    prices: Prices | None


def writer_of(desk: Desk, task: NoteTask) -> Writer:
    """Whoever is to write the note of `task`. Raises as making a provider does."""
    given = desk.given
    candidates = [] if given.summariser else [model for model in given.models if desk.reach.answers(model)]
    choice = choose(
        given.summariser,
        [(model, desk.reach.known(model)) for model in candidates],
        desk.model,
        tokens_in=_whole(desk, task, candidates) if candidates else 0,
        tokens_out=task.prose_tokens,
    )
    model, prices = choice.model, desk.reach.prices(choice.model)
    if model == desk.model:
        return Writer(
            model=model,
            why=choice.why,
            provider=desk.provider,
            counter=desk.counter,
            hard=desk.live.state.hard,
            prices=prices,
        )
    window = desk.reach.window(None, model)
    return Writer(
        model=model,
        why=choice.why,
        provider=desk.beside(model),
        counter=counter(model),
        hard=window.hard * 1000 // family_ratio(model),
        prices=prices,
    )


def _whole(desk: Desk, task: NoteTask, models: list[str]) -> int:
    """Tokens of all that the note could be written from, as the one among the models counts that counts most."""
    texts = [desk.note_prompt.text, *task.lines, *(text for _, text in task.texts)]
    ratio = max(family_ratio(model) for model in models)
    return sum(desk.counter.count(text) for text in texts) * ratio // 1000
