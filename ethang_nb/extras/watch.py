"""Watch: the requests of somebody's own client, seen in a context as they are sent, without a byte of them changed.

It hangs two hooks into the client's HTTP layer: one reads what is about to be sent, the other puts a tee into the
response's stream. Neither waits for anything, and a failure of ours is said in the context's notices and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Self
from weakref import WeakKeyDictionary

from ethang_nb.api import Context
from ethang_nb.context.wording import preview
from ethang_nb.errors import Misuse
from ethang_nb.extras.anthropic_client import MESSAGES
from ethang_nb.extras.exchange import Answer, Exchange
from ethang_nb.extras.interfaces import Interface
from ethang_nb.extras.openai_client import CHAT, RESPONSES
from ethang_nb.extras.tee import Ear, teed
from ethang_nb.providers.hearing import Hearing

__all__ = ["Watch", "watch"]

INTERFACES = (CHAT, RESPONSES, MESSAGES)
_OPEN = 64  # ► requests without an answer yet, among which one that is sent again is looked for
_ANSWERS = 256  # ► answers that a later request may go on from by their id
_RETRIES = "x-stainless-retry-count"  # how often the official clients have sent a request before
_SUPPORTED = (
    "watch takes an OpenAI or Anthropic client of the packages openai and anthropic, such as OpenAI(), AsyncOpenAI(), "
    "AzureOpenAI() or Anthropic(); for any other, call context.follow(messages, system=…, tools=…) before each request"
)


def watch(client: Any, ctx: Context) -> Watch:
    """Shows every request that `client` sends in `ctx` and its views, usage included, as it is sent.

        client = OpenAI()
        context = eth.Context("gpt-4o")
        with eth.watch(client, context):
            client.chat.completions.create(…)
        eth.ContextView(context)

    The official `openai` and `anthropic` clients, synchronous and asynchronous, their copies (`with_options`) and their
    helpers (`.stream()`, `.parse()`, `with_raw_response`): Chat Completions, Responses and Messages, streamed or not.
    Other requests pass unseen. A request that the client sends again after a failure is one request.

    The context only looks on: nothing is cut, and its policy evicts nothing; each step says what it would have done.
    A client brings its whole history each time, so what was there before is known by its content. What is no longer
    in it has left the window, with its address; a request that shares no message with the one before begins a new piece
    of work. So of several conversations over one client the window shows that of the last request, and each that comes
    back is known again with its addresses; give each a client and a context of its own to see them side by side. What
    `ctx.request()` gave is sent as the context's own: then only its usage is added here, and you append the reply.

    Raises Misuse for a client that cannot be watched, or that this context watches already.
    """
    if not isinstance(ctx, Context):
        raise Misuse(
            f"watch shows requests in an eth.Context, not in {preview(repr(ctx), 60)}; make one first"
        )
    return Watch(client, ctx)


class Watch:
    """A client that is watched until `stop()`, or to the end of a `with`."""

    def __init__(self, client: Any, context: Context) -> None:
        http = getattr(client, "_client", None)
        hooks = getattr(http, "event_hooks", None)
        if not isinstance(hooks, dict) or not {"request", "response"} <= set(hooks):
            raise Misuse(f"{_named(client)} has no HTTP layer to look at; {_SUPPORTED}")
        self.client, self.context = client, context
        self._lock = threading.Lock()
        self._open: OrderedDict[bytes, Exchange] = OrderedDict()
        self._answers: OrderedDict[str, tuple[Any, ...]] = OrderedDict()
        self._exchanges: WeakKeyDictionary[Any, Exchange] = WeakKeyDictionary()
        self._failed: set[str] = set()
        asynchronous = hasattr(http, "aclose")
        self._hooks: dict[str, _Hook] = {
            "request": _Hook(self, self._requested, asynchronous=asynchronous),
            "response": _Hook(self, self._responded, asynchronous=asynchronous),
        }
        self._hang_in(hooks)
        self._hung = hooks

    def _hang_in(self, hooks: dict[str, Any]) -> None:
        others = [hook.watch for hook in hooks["request"] if isinstance(hook, _Hook)]
        if any(other.context is self.context for other in others):
            raise Misuse(
                f"{_named(self.client)} is watched by context {self.context.name!r} already; stop that watch first"
            )
        for name, hook in self._hooks.items():
            hooks[name].append(hook)

    def stop(self) -> None:
        """Takes the hooks out again. Answers that are being read are still heard to their end. Twice is once."""
        for name, hook in self._hooks.items():
            if hook in self._hung[name]:
                self._hung[name].remove(hook)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        watching = self._hooks["request"] in self._hung["request"]
        return (
            f"Watch({_named(self.client)} in context {self.context.name!r}{'' if watching else ', stopped'})"
        )

    # ---- the hooks

    def _requested(self, request: Any) -> None:
        self._guarded("the request", lambda: self._see(request))

    def _responded(self, response: Any) -> None:
        self._guarded("the answer", lambda: self._listen(response))

    def _see(self, request: Any) -> None:
        path = str(request.url.path).rstrip("/")
        interface = next((one for one in INTERFACES if path.endswith(one.end)), None)
        if interface is None or str(request.method).upper() != "POST":
            return
        body: bytes = request.content
        key = hashlib.sha256(body).digest()
        with self._lock:
            exchange = self._open.get(key)
        if exchange is not None and _is_again(request, exchange):
            exchange.tries += 1
        else:
            exchange = self._exchange(interface, body)
        if exchange is None:
            return
        with self._lock:
            self._open[key] = exchange
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
        self._exchanges[request] = exchange

    def _exchange(self, interface: Interface, body: bytes) -> Exchange | None:
        data = json.loads(body)
        asked = interface.read(data) if isinstance(data, dict) else None
        if asked is None:
            return None
        messages: tuple[Any, ...] = tuple(asked.messages)
        if asked.after:
            messages = (*self._before(asked.after), *messages)
        followed = self.context.follow(
            messages, system=asked.system, tools=asked.tools, shape=interface.shape
        )
        return Exchange(self.context, interface, followed, messages)

    def _before(self, answer: str) -> tuple[Any, ...]:
        """What a request that names an earlier answer goes on from: its server keeps that, so it is not sent."""
        with self._lock:
            known = self._answers.get(answer)
        if known is None:
            self.context.say(
                ("before", answer),
                f"a request goes on from answer {answer[:60]!r}, which was not watched; what it holds is not shown",
            )
        return known or ()

    def _listen(self, response: Any) -> None:
        exchange = self._exchanges.pop(response.request, None)
        if exchange is None:
            return
        if response.has_redirect_location:
            exchange.moved = True
            return
        headers = {name.lower(): value for name, value in response.headers.items()}

        def tell(hearing: Hearing, whole: bool, name: str) -> None:
            self._conclude(exchange, hearing, whole=whole, name=name)

        answer = Answer(exchange.interface.parser(), response.status_code, headers, tell)
        response.stream = teed(response.stream, _Guarded(answer, self._guarded))

    def _conclude(self, exchange: Exchange, hearing: Hearing, *, whole: bool, name: str) -> None:
        reply = exchange.concluded(hearing, whole=whole)
        if reply is None or not name or exchange.interface is not RESPONSES:
            return
        with self._lock:
            self._answers[name] = (*exchange.messages, reply.message)
            while len(self._answers) > _ANSWERS:
                self._answers.popitem(last=False)

    def _guarded(self, what: str, act: Callable[[], object]) -> None:
        """Nothing that goes wrong here may reach the call that is looked at. It is said, each fault once."""
        try:
            act()
        except Exception as error:  # whatever it is: the call is not ours
            fault = type(error).__name__
            if fault not in self._failed:
                self._failed.add(fault)
                told = preview(f"{fault}: {error}", 200)
                self.context.say(
                    ("watch", fault), f"{what} could not be shown ({told}); the call itself was not touched"
                )


class _Hook:
    """What hangs in a client: called with a request or a response, awaited where the client is asynchronous."""

    def __init__(self, watch: Watch, act: Callable[[Any], None], *, asynchronous: bool) -> None:
        self.watch = watch
        self._act, self._asynchronous = act, asynchronous

    def __call__(self, seen: Any) -> Any:
        self._act(seen)
        return _nothing() if self._asynchronous else None


async def _nothing() -> None:
    """There is nothing to wait for."""


class _Guarded:
    """An ear whose faults reach nobody who reads the stream."""

    def __init__(self, ear: Ear, guard: Callable[[str, Callable[[], object]], None]) -> None:
        self._ear, self._guard = ear, guard

    def take(self, chunk: bytes) -> None:
        self._guard("the answer", lambda: self._ear.take(chunk))

    def end(self) -> None:
        self._guard("the answer", self._ear.end)

    def close(self) -> None:
        self._guard("the answer", self._ear.close)


def _is_again(request: Any, exchange: Exchange) -> bool:
    """Whether the client sends a request once more, by its own count or because the server pointed elsewhere."""
    if exchange.moved:
        exchange.moved = False
        return True
    again = str(request.headers.get(_RETRIES, "0"))
    return again.isdecimal() and int(again) > 0 and not exchange.answered


def _named(client: Any) -> str:
    if hasattr(client, "__spec__"):
        return f"the module {getattr(client, '__name__', '')!r}"
    return f"{type(client).__module__.partition('.')[0]}.{type(client).__name__}"
