"""What of a message is not read, or is sent as something else: said once a message, and only where content is lost."""

import pytest

import ethang_nb as eth
from ethang_nb.formats.detect import reading
from ethang_nb.formats.fields import rewritten
from ethang_nb.formats.parts import CONTENT, read_parts

PDF = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "QUJD" * 99}}
AUDIO = {"type": "input_audio", "input_audio": {"data": "abc", "format": "wav"}}
URL = "https://x/y.png"


def said(*parts, role="user", **fields):
    return [words for _, words in reading([{"role": role, "content": list(parts), **fields}]).unread]


def as_text(kind):
    return f"its part of type {kind!r} is sent as text"


@pytest.mark.parametrize(
    "part", [PDF, AUDIO, {"type": "file", "file": {"file_id": "f"}}, {"type": "nobody's"}]
)
def test_a_part_that_becomes_a_text_is_said(part):
    assert said(part, {"type": "text", "text": "what?"}) == [as_text(part["type"])]


def test_an_image_that_only_its_provider_can_follow_is_said():
    assert said({"type": "image", "source": {"type": "file", "file_id": "f"}}) == [as_text("image")]
    assert said({"type": "input_image", "file_id": "f"}) == [as_text("input_image")]


def test_the_audio_of_an_answer_is_said():
    assert said(role="assistant", audio={"id": "a"}) == [as_text("audio")]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
        {"type": "input_image", "image_url": URL, "detail": "high"},
    ],
)
def test_the_detail_of_an_image_is_said(part):
    assert said(part) == ["the field 'detail' of its image is not read"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": URL, "detail": "auto"}},
        {"type": "image", "source": {"type": "url", "url": URL}, "cache_control": {"type": "ephemeral"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        {
            "type": "text",
            "text": "x",
            "cache_control": {"type": "ephemeral"},
            "citations": [{"cited_text": "y"}],
        },
        {"type": "output_text", "text": "x", "annotations": [1], "id": "p"},
        "x",
    ],
)
def test_what_holds_no_content_is_not_said(part):
    assert said(part) == []


def test_a_custom_call_is_said():
    call = {"id": "a", "type": "custom", "custom": {"name": "x", "input": "abc"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, call | {"id": "b"}]}
    assert rewritten(message) == ["its call of type 'custom' is sent as a function call"]


def test_the_same_is_said_once_a_message():
    assert said(PDF, PDF, AUDIO, PDF) == [as_text("document"), as_text("input_audio")]
    two = reading([{"role": "user", "content": [PDF]}, {"role": "user", "content": [PDF]}])
    assert [position for position, _ in two.unread] == [0, 1]


def test_parts_inside_a_result_are_said():
    result = {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "x"}, PDF]}
    assert said(result) == [as_text("document")]


class Part:
    def __init__(self, **fields):
        self.type, self._fields = fields["type"], fields

    def model_dump(self):
        return self._fields


def test_a_part_of_an_sdk_is_said_like_a_dict():
    assert said(Part(**AUDIO)) == [as_text("input_audio")]


@pytest.mark.parametrize("kind", CONTENT)
def test_what_is_read_as_what_it_is_is_no_text_that_holds_json(kind):
    part = {"type": kind, "text": "x", "refusal": "x", "source": {"data": "AA=="}, "image_url": URL}
    (read,) = read_parts([part], "here")
    assert "kept as JSON" not in getattr(read, "text", "")
    assert as_text(kind) not in said(part)


def test_a_type_of_many_lines_stays_one_short_line():
    (words,) = said({"type": "a\n" * 5_000})
    assert len(words) < 120
    assert "\n" not in words


def test_what_is_no_part_in_a_field_that_is_not_read_is_passed_over():
    assert rewritten({"role": "user", "content": "t", "thinking_blocks": [5, None], "tool_calls": 5}) == []


def test_messages_of_ours_say_nothing():
    context = eth.Context(9_000, model="gpt-4o")
    context.append({"role": "user", "content": [PDF]})
    assert context.segments.repairs == (f"message 0: {as_text('document')}",)
    assert reading(list(context.request())).unread == ()
