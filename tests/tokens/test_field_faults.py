"""Faults that users of such software met in counting (`field_faults.jsonl`, area tokens), and their whole kinds."""

import subprocess
import sys

import pytest

import ethang_nb as eth
from ethang_nb.agent.run import Run
from ethang_nb.context.catalogue import ToolSpec, catalogue_tokens
from ethang_nb.context.counting import IMAGE_TOKENS, message_tokens
from ethang_nb.context.messages import Message, Text, Thinking, ToolCall, ToolResult, assistant
from ethang_nb.formats.detect import to_messages
from ethang_nb.providers.protocol import Reply, Usage
from ethang_nb.store.spill import SpillStore
from ethang_nb.tokens.registry import counter, family_ratio
from tests.tokens.strings import base64ish

O200K = counter("o200k_base")
CL100K = counter("cl100k_base")
UNKNOWN = "some-model-of-tomorrow"

SPECIAL = (
    "endoftext",
    "endofprompt",
    "im_start",
    "im_end",
    "im_sep",
    "fim_prefix",
    "fim_middle",
    "fim_suffix",
    "start",
)
NASTY = {
    **{name: f"explain <|{name}|> please" for name in SPECIAL},
    "only special": "<|endoftext|>" * 40,
    "half a special": "<|endof <|im_start",
    "a high half": "build ok \ud83d done",
    "a low half": "build ok \ude42 done",
    "halves": "\ud800" * 500,
    "NUL": "head\0tail",
    "NULs": "\0" * 500,
    "nothing": "",
}
PLACES = {
    "text": lambda text: Message(role="user", parts=(Text(text=text),)),
    "thinking": lambda text: Message(role="assistant", parts=(Thinking(text=text, signature=text),)),
    "name of a tool": lambda text: assistant("", [ToolCall(id="a", name=text)]),
    "id of a call": lambda text: assistant("", [ToolCall(id=text, name="look")]),
    "arguments": lambda text: assistant("", [ToolCall(id="a", name="look", arguments=text)]),
    "result": lambda text: Message(role="tool", parts=(ToolResult(call_id="a", text=text),)),
    "system": lambda text: Message(role="system", parts=(Text(text=text),)),
}


def tool_turn(result, arguments="{}"):
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": arguments}}
    return [
        {"role": "user", "content": "t"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a"} | (result if isinstance(result, dict) else {"content": result}),
    ]


def tokens(messages):
    return sum(message_tokens(message, O200K) for message in to_messages(messages))


# ---- TOK-01: the text of a special token raises


def test_tok_01_special_tokens_are_plain_text():
    text = "explain <|endoftext|> and <|im_start|>"
    assert O200K.count(text) > 5 and CL100K.count(text) > 5


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "ours", [O200K, CL100K, counter(UNKNOWN)], ids=lambda ours: f"{ours.how} {ours.name}"
)
def test_no_text_raises_wherever_it_stands(place, ours):
    for name, text in NASTY.items():
        assert message_tokens(PLACES[place](text), ours) > 0, name


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_nor_in_the_definition_of_a_tool(text):
    spec = ToolSpec(name="look", description=text, parameters={"type": "object", "title": text})
    assert catalogue_tokens((spec,), O200K) > 0


# ---- TOK-03: the vocabulary cannot be downloaded


def test_tok_03_counting_needs_no_network(tmp_path):
    """With an empty cache and no network the count is exact, for the ranks come with the package."""
    code = (
        "import os, socket\n"
        "def refuse(*_, **__): raise AssertionError('the network was asked')\n"
        "socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse\n"
        f"os.environ['TIKTOKEN_CACHE_DIR'] = {str(tmp_path)!r}\n"
        "import ethang_nb\n"
        "from ethang_nb.tokens.registry import counter\n"
        "print(counter('gpt-5').count('hello world'), counter('who-knows').count('hello world'))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ("2 2", "") == (said.stdout.strip(), said.stderr)
    assert [] == list(tmp_path.iterdir())


# ---- TOK-04: an inline data URI counted as text

PICTURE = "data:image/png;base64," + "QUJD" * 250_000


def test_tok_04_an_image_beside_a_result_is_not_its_base64():
    beside = {"content": "see file", "files": [{"type": "image", "url": PICTURE}]}
    assert tokens(tool_turn(beside)) < 5_000


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": PICTURE}},
        {"type": "image_url", "image_url": PICTURE},
        {"type": "input_image", "image_url": PICTURE},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 250_000}},
    ],
)
def test_tok_04_an_image_counts_as_an_image(part):
    for messages in ([{"role": "user", "content": [part]}], tool_turn([part])):
        assert IMAGE_TOKENS <= tokens(messages) <= 5_000


def test_tok_04_any_other_data_uri_is_cut_before_it_counts():
    context = eth.Context(200_000)
    for message in tool_turn("data:application/pdf;base64," + base64ish(4, 1_000_000)):
        context.append(message)
    assert context.budget.used < 10_000


# ---- TOK-06: arguments of a call not counted


def test_tok_06_arguments_are_part_of_the_count():
    assert tokens(tool_turn("ok", '{"body":"' + "lorem " * 6_500 + '"}')) >= 6_000


def test_tok_06_so_are_the_name_and_the_id():
    def call(**values):
        return message_tokens(assistant("", [ToolCall(**({"id": "", "name": ""} | values))]), O200K)

    assert call(name="look_into_the_ledger") > call(name="look")
    assert call() > message_tokens(assistant(""), O200K)


# ---- TOK-07: four characters a token in every script

SCRIPTS = {"zh": "你好世界" * 250, "ja": "日本語の" * 250, "ko": "안녕하세" * 250}


def expected(text):
    """What an unknown model is expected to count at most: the estimate with its family's ratio."""
    return counter(UNKNOWN).count(text) * family_ratio(UNKNOWN) / 1_000


@pytest.mark.parametrize("script", SCRIPTS)
def test_tok_07_scripts_without_blanks_take_more_tokens_a_character(script):
    assert 0.6 <= expected(SCRIPTS[script]) / len(SCRIPTS[script]) <= 1.5


def test_tok_07_an_emoji_is_a_token_at_least_and_english_a_quarter_a_letter():
    assert counter(UNKNOWN).count("🔥" * 250) >= 250
    assert 0.2 <= counter(UNKNOWN).count("word" * 250) / 1_000 <= 0.3


@pytest.mark.parametrize("text", [*SCRIPTS.values(), "word" * 250, "Größenänderung " * 60, "é" * 300])
def test_tok_07_never_below_half_of_what_another_tokenizer_counts(text):
    """cl100k, whose Chinese is the poorest. Emoji are left out: it takes three tokens for one, newer ones take one."""
    assert expected(text) * 2 >= CL100K.count(text)


# ---- TOK-08 and TOK-11: what a provider reports, and what it adds up to


def spent(*usages):
    run = Run("a session", "a task", "a label")
    for usage in usages:
        run.spend(Reply(message=assistant("ok"), stop="end", usage=usage), usage.input, O200K)
    return run


def test_tok_08_cached_tokens_are_a_part_of_the_input():
    run = spent(Usage(input=2_000, output=7, cached=500))
    assert (2_000, 7, 2_007) == (run.tokens_in, run.tokens_out, run.tokens_in + run.tokens_out)


def test_tok_11_what_was_billed_adds_up_and_what_is_in_the_window_does_not():
    reports = (10_000, 10_400, 10_900, 11_300, 12_000)
    assert 54_600 == spent(*(Usage(input=report, output=0) for report in reports)).tokens_in
    context = eth.Context(200_000)
    context.append({"role": "user", "content": "word " * 10_000})
    for report in reports:
        context.request()
        context.usage(report)
        context.append({"role": "assistant", "content": "word " * 400})
    assert 11_900 <= context.budget.used <= 12_100


# ---- TOK-10 and TOK-16: a report that can hardly be right


def reported(window, own, report):
    """A context that holds about `own` tokens, after one report; and its fill before."""
    context = eth.Context(window)
    context.append({"role": "user", "content": "word " * own})
    context.request()
    before = context.budget.fill
    context.usage(report)
    return context, before


def test_tok_10_reads_of_a_tool_on_the_server_are_no_context():
    context, before = reported(200_000, 57_000, 58_000 + 240_000)
    assert (before, 1_000) == (context.budget.fill, context.budget.ratio)
    assert any("298,000" in notice and "ignored" in notice for notice in context.snapshot.notices)
    context.append({"role": "assistant", "content": "done"})
    context.append({"role": "user", "content": "go on"})
    context.request()
    assert not context.snapshot.diffs


def test_tok_16_a_server_that_saw_far_less_is_named_and_no_empty_context():
    context, before = reported(128_000, 90_000, 8_200)
    assert (before, 1_000) == (context.budget.fill, context.budget.ratio)
    assert any("8,200" in notice for notice in context.snapshot.notices)


# ---- TOK-15: an estimate of text that is not sent


def test_tok_15_a_result_counts_as_it_is_sent(tmp_path):
    store = SpillStore(tmp_path)
    for size in (2_000_000, 4_600_000):
        notice = store.spill("read", "line of output\n" * (size // 15))
        assert tokens(tool_turn(notice)) < 500


def test_tok_15_huge_results_in_a_row_ask_for_no_cleanup():
    context = eth.Context(200_000)
    context.append({"role": "user", "content": "t"})
    for number, size in enumerate((2_000_000, 4_600_000)):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        context.append({"role": "assistant", "content": None, "tool_calls": [call]})
        context.append(
            {"role": "tool", "tool_call_id": f"c{number}", "content": "line of output\n" * (size // 15)}
        )
    sent = context.request()
    assert context.budget.used < 20_000 and not context.snapshot.diffs
    assert abs(tokens(list(sent)) - context.budget.used) <= 40
