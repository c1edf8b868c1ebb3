"""A model behind HTTP as the loop sees it: its name in all that is said, no key in any of it."""

import asyncio
import json
import traceback

import pytest

from ethang_nb.context.messages import assistant, user
from ethang_nb.errors import KeyMissing, Overflow, ProviderFault
from ethang_nb.providers.http.line import HttpLine
from ethang_nb.providers.http.waiting import Waits
from ethang_nb.providers.protocol import Reply, Request
from ethang_nb.providers.registry import provider
from ethang_nb.providers.remote import Remote
from tests.providers.servers import DONE, QUICK, PlainWire, event, peer, says, streams

KEY = "sk-" + "planted-0123456789"
REQUEST = Request(model="openai/small?x=1", messages=(user("hello"),), max_output=10)


@pytest.fixture(autouse=True)
def planted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def remote(url, waits=QUICK, **fields):
    given = {
        "model": "openai/small?x=1",
        "source": "openai/small",
        "name": "small",
        "label": "openai/small",
        "wire": PlainWire(),
        "line": HttpLine(url, headers=lambda: {"authorization": f"Bearer {KEY}"}, waits=waits),
        "key": "OPENAI_API_KEY",
    }
    return Remote(**{**given, **fields})


def sent(*answers, on_text=None, on_note=None, waits=QUICK, **fields):
    """The reply to REQUEST, and the peer that gave it."""

    async def main():
        async with peer(*answers) as it:
            one = remote(it.url, waits=waits, **fields)
            try:
                return await one.send(one.encode(REQUEST), on_text=on_text, on_note=on_note), it
            finally:
                await one.close()

    return asyncio.run(main())


def failed(*answers, kind=ProviderFault, **fields):
    with pytest.raises(kind) as fault:
        sent(*answers, **fields)
    assert KEY not in "".join(traceback.format_exception(fault.value)) and "\n" not in str(fault.value)
    return fault.value


def test_a_reply_says_whose_it_is_and_the_server_was_asked_for_the_model_by_its_own_name():
    told = []
    reply, it = sent(streams(event("a"), event("b"), DONE), on_text=told.append)
    assert (reply.message.text, reply.message.source, told) == ("ab", "openai/small", ["a", "b"])
    assert it.bodies == [b'{"model": "small", "texts": ["hello"]}']
    assert "\r\nx-wire: plain\r\n" in it.heads[0].lower()


def test_every_failure_names_the_model():
    assert str(failed(says({"error": {"message": "bad"}}, 400))).startswith("openai/small: ")
    overflow = failed(
        says({"error": {"code": "context_length_exceeded", "message": "x"}}, 400), kind=Overflow
    )
    assert str(overflow).startswith("openai/small: ")
    assert str(failed(streams(event("half"), then="break"))).startswith(
        "openai/small: the connection to 127.0.0.1"
    )


def test_what_had_come_stays_with_the_fault():
    assert failed(streams(event("half"), then="break")).partial == {"text": "half"}


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_named_by_its_variable(status):
    echo = says({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status)
    fault = failed(echo)
    assert "the key comes from OPENAI_API_KEY" in str(fault) and "[OPENAI_API_KEY]" in str(fault)
    assert "no variable is named" in str(failed(echo, key=""))


def test_no_text_of_a_server_brings_a_key_along():
    notes = []
    echo = says({"error": {"message": f"the header was Bearer {KEY}"}}, 503)
    assert "[OPENAI_API_KEY]" in str(failed(echo, on_note=notes.append))
    notes = [line for line in notes if line]
    assert len(notes) == QUICK.tries - 1
    assert all(note.startswith("openai/small: ") and KEY not in note for note in notes)
    page = says(f"<html>{KEY}</html>".encode(), kind="text/html")
    assert "[OPENAI_API_KEY]" in str(failed(page))
    reply, _ = sent(echo, streams(event("a"), DONE))
    assert reply.notices and not any(KEY in line for line in reply.notices)


@pytest.mark.parametrize("before", range(540, 620, 6))
def test_a_text_that_is_cut_is_never_cut_inside_a_key(before):
    long = {"error": {"message": "x" * before + KEY}}
    for answer in (says(long, 400), says(long), streams(f"data: {json.dumps(long)}\n\n".encode())):
        assert KEY[:8] not in str(failed(answer, waits=Waits(tries=1)))
    page = "x" * (before - 400) + KEY
    assert KEY[:8] not in str(failed(says(page.encode(), kind="text/html"), waits=Waits(tries=1)))


def test_whatever_a_line_says_is_masked_here():
    class Talkative:
        """A line that tells everybody the key: in a note, and in a notice or a fault."""

        def __init__(self, outcome):
            self.outcome = outcome

        async def ask(self, call, hearing, *, on_note=None):
            on_note(f"try 2 with {KEY}")
            heard = hearing()
            heard.outcome = self.outcome
            return heard

    def told(outcome):
        one, notes = remote("", line=Talkative(outcome)), []
        try:
            reply = asyncio.run(one.send(one.encode(REQUEST), on_note=notes.append))
        except ProviderFault as fault:
            return [*notes, str(fault)]
        return [*notes, *reply.notices]

    reply = Reply(message=assistant("a"), stop="end", notices=(f"answered with {KEY}",))
    assert told(reply) == ["openai/small: try 2 with [OPENAI_API_KEY]", "answered with [OPENAI_API_KEY]"]
    assert told(ProviderFault(KEY))[-1] == "openai/small: [OPENAI_API_KEY]"


def test_nothing_shows_a_key_when_it_is_printed():
    one = remote("http://127.0.0.1:9")
    assert KEY not in repr(one) + repr(one.line) + repr(vars(one.line))


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")

    async def main():
        one = provider("openai/gpt-4o")
        try:
            await one.send(one.encode(Request(model="openai/gpt-4o", messages=(user("x"),), max_output=9)))
        finally:
            await one.close()

    with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
        asyncio.run(main())
