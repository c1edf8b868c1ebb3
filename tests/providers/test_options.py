"""Options of a model id: each stands there once, and whoever writes one twice is told."""

import pytest

from ethang_nb.errors import Misuse
from ethang_nb.providers.endpoints.model_ids import named
from ethang_nb.providers.llamacpp.options import wanted
from ethang_nb.providers.offline.reader import OPTIONS
from ethang_nb.providers.options import options, pairs
from ethang_nb.providers.registry import check


def test_options_are_read_as_they_stand_there():
    read = pairs("openai/x?header.X-A=1%262&query.a=b=c&query.A=&&wire=chat")
    assert read == {"header.X-A": "1&2", "query.a": "b=c", "query.A": "", "wire": "chat"}


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("llamacpp/smol.gguf?ctx=512&ctx=1024", "ctx"),
        ("llamacpp/smol.gguf?ctx=512&seed=1&ctx=512", "ctx"),
        ("openai/gpt-4o?wire=chat&wire=responses", "wire"),
        ("openai/gpt-4o?wire=chat&%77ire=responses", "wire"),
        ("vllm/x?base_url=http://127.0.0.1:1/v1&base_url=http://127.0.0.1:2/v1", "base_url"),
        ("openai/gpt-4o?header.X-Title=a&header.x-title=b", "header.x-title"),
        ("openai/gpt-4o?query.tier=1&query.tier=2", "query.tier"),
        ("reader?follow=yes&follow=no", "follow"),
    ],
)
def test_an_option_that_stands_there_twice_is_named(model, name):
    provider = model.partition("?")[0].partition("/")[0]
    with pytest.raises(Misuse, match=f"^option '{name}' of {provider} stands there twice"):
        check(model)


def test_names_that_differ_are_no_repetition():
    assert (
        dict(named("openai/gpt-4o?query.a=1&query.A=2").endpoint.query).items()
        >= {"a": "1", "A": "2"}.items()
    )
    assert 512 == wanted("llamacpp/x.gguf?ctx=512&seed=512")[0].ctx
    read = options("reader?follow=no&nudge=ignore", OPTIONS)
    assert ("no", "ignore") == (read["follow"], read["nudge"])


def test_a_repeated_option_that_may_be_a_key_is_not_shown():
    secret = "sk-" + "a1B2" * 12
    with pytest.raises(Misuse) as caught:
        check(f"openai/gpt-4o?{secret}=1&{secret}=2")
    assert secret not in str(caught.value)
