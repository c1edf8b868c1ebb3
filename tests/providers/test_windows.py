"""The window that was meant, and what is said of one that nobody knows."""

import pytest

from ethang_nb.context.window import Window
from ethang_nb.errors import BadWindow, Misuse
from ethang_nb.providers.models.facts import ModelFacts
from ethang_nb.providers.windows import window_of

KNOWN = ModelFacts(total=400_000, max_output=128_000, max_input=272_000, source="a list, 2026-01-02")


def test_a_model_is_its_own_window_with_its_source_and_date():
    for window in (window_of("openai/gpt-5"), window_of("gpt-5"), window_of(None, model="openai/gpt-5")):
        assert (400_000, 272_000, 32_000) == (window.total, window.max_input, window.reserve)
        assert 272_000 == window.hard
        assert "2026-11-20" in window.source


def test_the_reserve_is_no_more_than_the_model_puts_out():
    assert 16_384 == window_of("gpt-4o").reserve
    assert 3_277 == window_of("gpt-3.5-turbo").reserve
    assert 1_600 == window_of(8_000, model="openai/gpt-4o").reserve
    assert "given" == window_of(8_000, model="openai/gpt-4o").source


def test_a_model_whose_output_nobody_states_has_the_reserve_of_the_rule():
    found = window_of("x/y", find=lambda _: ModelFacts(total=100_000, max_output=None, source="it"))
    assert (20_000, "it") == (found.reserve, found.source)


def test_facts_come_from_where_they_are_said_to_come_from():
    asked = []

    def find(model):
        asked.append(model)
        return KNOWN

    assert 400_000 == window_of(None, model="mine/model", find=find).total
    assert 8_000 == window_of(8_000, model="mine/model", find=find).total
    assert ["mine/model", "mine/model"] == asked


def test_what_a_person_says_goes_before_the_facts():
    found = window_of("m", find=lambda _: KNOWN, max_input=100_000, effective=50_000, reserve=10_000)
    assert (100_000, 50_000, 10_000) == (found.max_input, found.effective, found.reserve)
    window = Window.of(5_000)
    assert window is window_of(window, model="nobody")


def test_tokens_ask_no_server(monkeypatch):
    """A number is a number: nobody waits for a server because of the reserve."""
    from ethang_nb.providers.models import live as live_facts

    monkeypatch.setattr(live_facts, "ask", lambda *_: pytest.fail("asked"))
    assert 8_000 == window_of(8_000, model="vllm/x").total


@pytest.mark.parametrize(
    ("given", "model", "said"),
    [
        (
            "vllm/x?base_url=http://127.0.0.1:9/v1",
            "",
            "is unknown: nothing answers at 127.0.0.1:9 (connection",
        ),
        ("openai/nobody-knows", "", "is unknown; neither its own server nor the list of models"),
        ("openai/gpt-55", "", "did you mean openai/gpt-5.5, openai/gpt-5"),
        ("xai/grok-4", "", "did you mean xai/grok-4-"),
        ("vllm/x?base_url=http://127.0.0.1:9/v1", "", '[models."vllm/x"] total = 32768'),
        (None, "openai/nobody-knows", "give a number of tokens, or in ethang.toml"),
        ("no-such", "", "the window of model 'no-such' is unknown (unknown model 'no-such'; known: reader"),
        ("openia/gpt-4o", "", "did you mean 'openai/gpt-4o'?); give a number of tokens"),
        (None, "", "neither a number of tokens nor a model id"),
        (True, "", "neither a number of tokens nor a model id"),
        (8.5, "", "neither a number of tokens nor a model id"),
    ],
)
def test_a_window_is_never_guessed(given, model, said):
    with pytest.raises(BadWindow) as caught:
        window_of(given, model=model)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_that_cannot_be_named_so_is_told_why():
    with pytest.raises(Misuse, match="names no model"):
        window_of("openai/")
