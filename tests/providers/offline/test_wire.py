import json

import pytest

from ethang_nb.context.messages import assistant, user
from ethang_nb.errors import ProviderFault
from ethang_nb.providers.offline.reader import Reader
from ethang_nb.providers.offline.view import view
from ethang_nb.providers.offline.wire import decode, tokens
from ethang_nb.providers.protocol import Body


def test_the_body_is_a_chat_request_with_a_piece_a_message(talk):
    request = talk("Read a.txt").read("a.txt", "x").request()
    body = Reader().encode(request)
    data = json.loads(body.bytes)
    assert list(data) == ["model", "max_tokens", "tools", "messages"]
    assert [message["role"] for message in data["messages"]] == ["system", "user", "assistant", "tool"]
    assert len(body.pieces) == len(data["messages"]) + 2


def test_a_growing_conversation_repeats_its_pieces(talk):
    conversation = talk("Read a.txt").read("a.txt", "x")
    before = Reader().encode(conversation.request()).pieces
    after = Reader().encode(conversation.user("Find the cap").request()).pieces
    assert after[: len(before) - 1] == before[:-1]


def test_equal_requests_are_equal_bytes_whatever_the_order_of_params(talk):
    request = talk("Read a.txt").request()
    one = type(request)(**{**_fields(request), "params": {"seed": 1, "temperature": 0}})
    other = type(request)(**{**_fields(request), "params": {"temperature": 0, "seed": 1}})
    assert Reader().encode(one) == Reader().encode(other)


def test_a_lone_surrogate_never_breaks_the_bytes(talk):
    conversation = talk("Read a.txt")
    conversation.messages.append(
        user("x").__class__(role="user", parts=(type(user("").parts[0])(text="a\ud800b"),))
    )
    assert json.loads(Reader().encode(conversation.request()).bytes)["messages"][-1]["content"] == "a\ufffdb"


@pytest.mark.parametrize("raw", [b"", b"nonsense", b"[]", b'{"messages": 3}'])
def test_what_is_no_request_is_a_provider_fault(raw):
    with pytest.raises(ProviderFault, match="request"):
        decode(Body(pieces=(raw,)))


def test_tokens_of_a_body_are_those_of_its_messages_and_tools(talk):
    empty = tokens(Reader().encode(talk("Read a.txt", tools=()).request()))
    assert tokens(Reader().encode(talk("Read a.txt").request())) > empty > 10


def test_a_view_knows_each_message_by_how_it_begins(talk):
    conversation = talk("Read a.txt").read("a.txt", "x")
    for text in (
        "[context pressure] full",
        "[context notice] left",
        "[handoff note compaction@v2+1] x",
        "[pinned decision] y",
    ):
        conversation.user(text)
    conversation.messages.append(assistant("done"))
    seen = view(decode(Reader().encode(conversation.request())))
    kinds = [item.kind for item in seen.items]
    assert kinds == ["system", "task", "assistant", "tool", "nudge", "notice", "note", "pin", "assistant"]
    assert seen.items[3].answers.text("path") == "a.txt"


def _fields(request):
    return {name: getattr(request, name) for name in ("model", "messages", "tools", "max_output", "params")}
