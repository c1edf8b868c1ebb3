"""What a context without a session says of a report that falls short of it."""

from ethang_nb.context.catalogue import ToolSpec
from ethang_nb.context.chronicle import Chronicle
from ethang_nb.context.messages import assistant, user
from tests.context.builders import live

TOOLS = tuple(
    ToolSpec(name=f"tool_{number}", description="What it does, in many words. " * 12, parameters={})
    for number in range(5)
)
"""About 450 tokens."""


def watched(words, tools=(), **options):
    """A context with one request of about `words` tokens, and its chronicle."""
    context = live(20_000, tools=tools)
    chronicle = Chronicle(context, **options)
    context.append(user("word " * words))
    context.request()
    return context, chronicle


def reported(words, read, tools=(), cached=None, **options):
    context, chronicle = watched(words, tools, **options)
    context.usage(read, context.state.total, cached)
    return chronicle.notices


def test_tools_that_a_template_leaves_out_were_not_cut():
    """The README's first run of a local model: 190 of 620 tokens, 447 of them tools its template drops."""
    context, _ = watched(150, TOOLS)
    assert context.state.tools > 400
    assert [] == reported(150, 190, TOOLS)
    assert [] == reported(1_200, 1_190, TOOLS)


def test_a_request_that_was_cut_is_said_once():
    (said,) = reported(7_000, 2_050, TOOLS)
    assert "step 1: 2,050 input tokens were reported, of about 7,0" in said
    assert said.endswith("the server may have cut the request")
    context, chronicle = watched(7_000)
    for _ in range(2):
        context.usage(2_050, context.state.total)
    assert 1 == len(chronicle.notices)


def test_a_phantom_is_still_said_beside_it():
    (said,) = reported(100, 50_000)
    assert "over 4 times our own count" in said


def test_reports_that_cannot_be_of_the_whole_are_not_doubted():
    assert [] == reported(7_000, 20)
    assert [] == reported(7_000, 2_050, cached=5_000), "the report leaves out what was cached"


def test_a_tokenizer_that_counts_less_is_learned():
    context, chronicle = watched(2_000)
    context.usage(1_250, context.state.total)
    context.append(assistant("Yes."))
    context.append(user("word " * 1_000))
    context.request()
    context.usage(1_750, context.state.total)
    assert [] == chronicle.notices


def test_where_the_sender_judges_nothing_is_said_here():
    assert [] == reported(7_000, 2_050, judged=True)
    assert 1 == len(reported(100, 50_000, judged=True)), "a phantom is"
