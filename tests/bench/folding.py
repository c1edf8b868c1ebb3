"""The fold fed with a transcript: messages that are counted when they come, or counts that were kept."""

from ethang_nb.context.arriving import arrive
from ethang_nb.context.counting import message_tokens
from ethang_nb.context.events import MessageAdded, PartsChanged, RequestPoint, ResultAdded
from ethang_nb.context.fold import step
from ethang_nb.context.ledger import Ledger
from ethang_nb.context.messages import user
from ethang_nb.context.policies import policy
from ethang_nb.context.settings import Settings
from ethang_nb.context.state import State
from ethang_nb.context.wording import call_title, nudge
from ethang_nb.tokens.registry import counter

__all__ = ["POLICY", "Counting", "Fold"]

POLICY = policy("ethang")


class Counting:
    """From messages to the events that they are for the fold, with their exact counts; large results are cut."""

    def __init__(self, window, model):
        self.settings, self.counter = Settings.of(window, POLICY), counter(model)
        self._titles, self._number = {}, 0

    def event(self, message):
        self._number += 1
        if message.role == "system":
            return PartsChanged(system=message_tokens(message, self.counter))
        if message.role == "tool":
            (result,) = message.results
            arrived = arrive(
                result,
                call=self._titles[result.call_id],
                address=f"log://{self._number}",
                settings=self.settings,
                counter=self.counter,
                spill=None,
            )
            return ResultAdded(result=arrived.counted)
        self._titles |= {call.id: call_title(call) for call in message.calls}
        tokens, calls = message_tokens(message, self.counter), len(message.calls)
        kind = "user" if message.role == "user" else "turn" if calls else "assistant"
        return MessageAdded(kind=kind, tokens=tokens, calls=calls)


class Fold:
    """A state that events are fed to; a plan is carried out as `Context` does it."""

    def __init__(self, window, model):
        settings = Settings.of(window, POLICY)
        self.state = State(settings, Ledger())
        text = nudge(settings.levels.nudge, settings.levels.cleanup)
        self._nudge = MessageAdded(kind="nudge", tokens=message_tokens(user(text), counter(model)))

    def take(self, event):
        self.state, _ = step(self.state, event)

    def plan(self):
        self.state, decision = step(self.state, RequestPoint())
        if decision.outcome == "nudge":
            self.take(self._nudge)
        return decision

    def run(self, events):
        """A whole run: a request before every message of the assistant."""
        for event in events:
            if isinstance(event, MessageAdded) and event.kind != "user":
                self.plan()
            self.take(event)
        return self
