"""Usage: every provider's report means the same afterwards, and what is not said is never 0."""

import pytest

from ethang_nb.providers.protocol import Usage
from ethang_nb.providers.wires.usage import merged, of_chat, of_messages, of_responses, of_timings, whole

PLAIN = {"prompt_tokens": 1200, "completion_tokens": 100, "total_tokens": 1300}
BOTH = Usage(input=1200, output=100)


def details(**given):
    return PLAIN | {"prompt_tokens_details": given}


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        pytest.param(PLAIN, BOTH, id="nothing but totals: Cerebras, llama-cpp-python, Ollama"),
        pytest.param(
            details(cached_tokens=1024, cache_write_tokens=100)
            | {"completion_tokens_details": {"reasoning_tokens": 60}},
            Usage(input=1200, output=100, cached=1024, written=100, reasoning=60),
            id="OpenAI, Azure, OpenRouter",
        ),
        pytest.param(
            details(cached_tokens=0), Usage(input=1200, output=100, cached=0), id="nothing cached is said"
        ),
        pytest.param(PLAIN | {"prompt_tokens_details": None}, BOTH, id="vLLM without details"),
        pytest.param(details(cached_tokens=None), BOTH, id="null in the details"),
        pytest.param(
            PLAIN | {"cached_tokens": 900},
            Usage(input=1200, output=100, cached=900),
            id="Anthropic's compatible endpoint, Moonshot",
        ),
        pytest.param(
            PLAIN | {"prompt_cache_hit_tokens": 1024, "prompt_cache_miss_tokens": 176},
            Usage(input=1200, output=100, cached=1024),
            id="DeepSeek: a miss is no write",
        ),
        pytest.param(
            details(cached_tokens=1000) | {"prompt_cache_hit_tokens": 1024},
            Usage(input=1200, output=100, cached=1000),
            id="DeepSeek with details",
        ),
        pytest.param(
            PLAIN | {"cached_prompt_text_tokens": 7}, Usage(input=1200, output=100, cached=7), id="xAI, native"
        ),
        pytest.param(
            {"prompt_tokens": 1200, "completion_tokens": 40, "total_tokens": 1300,
             "completion_tokens_details": {"reasoning_tokens": 60}},
            Usage(input=1200, output=100, reasoning=60),
            id="Gemini, xAI: the total shows that the reasoning is beside the output",
        ),
        pytest.param(
            PLAIN | {"cost": 0.0012, "cost_details": {}, "is_byok": False}, BOTH, id="OpenRouter's cost"
        ),
        pytest.param({"prompt_tokens": 12}, Usage(input=12), id="no output said"),
        pytest.param(PLAIN | {"prompt_tokens": 0}, Usage(output=100), id="nobody counted the input"),
    ],
)  # fmt: skip
def test_chat(report, expected):
    assert expected == of_chat(report)


def test_xai_leaves_reasoning_out_of_its_output():
    report = PLAIN | {"total_tokens": 1300, "completion_tokens_details": {"reasoning_tokens": 60}}

    assert Usage(input=1200, output=160, reasoning=60) == of_chat(report, excludes_reasoning=True)
    assert Usage(input=1200, output=100, reasoning=60) == of_chat(report)
    assert BOTH == of_chat(PLAIN, excludes_reasoning=True)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ({"input_tokens": 40, "output_tokens": 7}, Usage(input=40, output=7)),
        (
            {"input_tokens": 4, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 6, "output_tokens": 7},
            Usage(input=40, output=7, cached=30, written=6),
        ),
        (
            {"input_tokens": 4, "cache_read_input_tokens": 0, "output_tokens": 7,
             "cache_creation": {"ephemeral_5m_input_tokens": 6, "ephemeral_1h_input_tokens": 30}},
            Usage(input=40, output=7, cached=0, written=36),
        ),
        (
            {"input_tokens": 4, "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 5},
             "server_tool_use": {"web_search_requests": 1}, "service_tier": "standard"},
            Usage(input=4, output=7, reasoning=5),
        ),
        (
            {"cache_read_input_tokens": 448, "input_tokens": 1, "output_tokens": 31},
            Usage(input=449, output=31, cached=448),
        ),
        ({"output_tokens": 7, "cache_read_input_tokens": 3}, Usage(output=7, cached=3)),
        ({"input_tokens": 0, "output_tokens": 0}, Usage(output=0)),
    ],
)  # fmt: skip
def test_messages(report, expected):
    assert expected == of_messages(report)


def test_responses():
    report = {
        "input_tokens": 40,
        "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 47,
    }

    assert Usage(input=40, output=7, cached=30, written=0, reasoning=5) == of_responses(report)
    assert Usage(input=40) == of_responses({"input_tokens": 40, "input_tokens_details": None})


def test_timings_of_llama_cpp():
    assert Usage(input=448, output=31, cached=447) == of_timings(
        {"cache_n": 447, "prompt_n": 1, "predicted_n": 31}
    )
    assert Usage(output=31) == of_timings({"predicted_n": 31, "prompt_n": 3})


@pytest.mark.parametrize(
    "nonsense", [-1, -7.0, True, 1.5, "7", "7.0", None, [7], {"n": 7}, float("nan"), float("inf"), 1e30]
)
def test_what_is_no_number_of_tokens_is_not_said(nonsense):
    assert whole(nonsense) is None
    report = dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens"), nonsense)
    assert of_chat(report | {"prompt_tokens_details": nonsense}) is None
    assert (
        of_messages(dict.fromkeys(("input_tokens", "output_tokens", "cache_read_input_tokens"), nonsense))
        is None
    )
    assert of_responses({"input_tokens": nonsense, "output_tokens_details": nonsense}) is None
    assert of_timings({"cache_n": nonsense, "prompt_n": nonsense}) is None


def test_a_whole_number_may_come_as_a_float():
    assert [40, 0] == [whole(40.0), whole(-0.0)]
    assert all(type(number) is int for number in (whole(40.0), whole(0.0)))
    report = {
        "prompt_tokens": 40.0,
        "completion_tokens": 6.0,
        "prompt_tokens_details": {"cached_tokens": 0.0},
    }
    assert Usage(input=40, output=6, cached=0) == of_chat(report)
    assert Usage(input=42, output=6, cached=2) == of_messages(
        {"input_tokens": 40.0, "cache_read_input_tokens": 2.0, "output_tokens": 6.0}
    )
    assert Usage(input=40, output=6) == of_responses({"input_tokens": 40.0, "output_tokens": 6.0})
    assert Usage(input=40, output=6, cached=0) == of_timings(
        {"cache_n": 0.0, "prompt_n": 40.0, "predicted_n": 6.0}
    )


@pytest.mark.parametrize("read", [of_chat, of_messages, of_responses, of_timings])
@pytest.mark.parametrize("report", [None, 7, "x", [], {}, {"unknown": 7}])
def test_no_report_is_none(read, report):
    assert read(report) is None


def test_a_running_report_keeps_what_a_later_one_does_not_say_or_takes_back():
    begun = {"input_tokens": 40, "output_tokens": 1, "cache_read_input_tokens": None}
    later = {"input_tokens": 0, "output_tokens": 7, "cache_read_input_tokens": 3, "x": None}

    assert {"input_tokens": 40, "output_tokens": 7, "cache_read_input_tokens": 3} == {
        key: value for key, value in merged(begun, later).items() if value is not None
    }


@pytest.mark.parametrize(
    ("provider", "flavour", "model", "report", "excludes"),
    [
        ("openai", "chat", "gpt-4o", details(cached_tokens=1024, cache_write_tokens=100)
         | {"completion_tokens_details": {"reasoning_tokens": 60}}, False),
        ("openrouter", "chat", "openai/gpt-4o", details(cached_tokens=1024, cache_write_tokens=100), False),
        ("groq", "default", "openai/gpt-oss-120b", details(cached_tokens=5), False),
        ("anthropic", "chat", "claude-sonnet-4-5", PLAIN | {"cached_tokens": 900}, False),
        ("x-ai", "chat", "grok-4", details(cached_tokens=5)
         | {"completion_tokens_details": {"reasoning_tokens": 60}}, True),
    ],
)  # fmt: skip
def test_another_implementation_reads_the_same(provider, flavour, model, report, excludes):
    """genai-prices knows each provider's fields; it says 0 or nothing where we say None."""
    pytest.importorskip("genai_prices", reason="an independent reader of usage; install the group peers")
    from genai_prices import extract_usage

    theirs = extract_usage({"model": model, "usage": report}, provider_id=provider, api_flavor=flavour).usage
    ours = of_chat(report, excludes_reasoning=excludes)

    assert (ours.input, ours.output, ours.cached) == (
        theirs.input_tokens,
        theirs.output_tokens,
        theirs.cache_read_tokens,
    )
    assert (ours.written or 0, ours.reasoning or 0) == (
        theirs.cache_write_tokens or 0,
        theirs.output_reasoning_tokens or 0,
    )


def test_another_implementation_reads_anthropic_the_same():
    pytest.importorskip("genai_prices", reason="an independent reader of usage; install the group peers")
    from genai_prices import extract_usage

    report = {
        "input_tokens": 4,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 6,
        "output_tokens": 7,
    }
    theirs = extract_usage({"model": "claude-sonnet-4-5", "usage": report}, provider_id="anthropic").usage
    ours = of_messages(report)

    assert (ours.input, ours.output, ours.cached, ours.written) == (
        theirs.input_tokens,
        theirs.output_tokens,
        theirs.cache_read_tokens,
        theirs.cache_write_tokens,
    )
