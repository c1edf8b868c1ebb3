"""Content parts of both families."""

import json
from types import MappingProxyType

import pytest

from ethang_nb.context.messages import Image, Text
from ethang_nb.errors import BadMessage
from ethang_nb.formats.parts import arguments, plain, read_parts


def test_any_mapping_is_as_good_as_a_dict():
    assert read_parts([MappingProxyType({"type": "text", "text": "a"})], "m") == (Text(text="a"),)


def test_a_data_url_with_parameters_is_an_image():
    part = {"type": "image_url", "image_url": "data:image/svg+xml;charset=utf-8;base64,AAAA"}

    assert read_parts([part], "m") == (Image(media_type="image/svg+xml", data="AAAA"),)


def test_a_data_url_that_is_not_base64_stays_a_url():
    part = {"type": "input_image", "image_url": "data:image/svg+xml,%3Csvg/%3E"}

    assert read_parts([part], "m") == (Image(url="data:image/svg+xml,%3Csvg/%3E"),)


def test_an_image_without_a_source_is_kept_as_text():
    assert read_parts([{"type": "image_url", "image_url": {}}], "m")[0].text.startswith(
        "[part of type 'image_url'"
    )


def test_words_of_an_unknown_part_stay_whole_and_only_base64_is_cut():
    document = {"type": "document", "source": {"type": "text", "data": "word " * 1000}, "file": "A" * 199}
    blob = {"type": "file", "file": {"file_data": "data:application/pdf;base64," + "A" * 400}}

    kept, cut = read_parts([document, blob], "m")

    assert "word " * 1000 in kept.text
    assert "A" * 199 in kept.text
    assert "A" * 200 not in cut.text
    assert "428 characters of base64 left out" in cut.text


def test_a_bottomless_part_is_kept_as_far_as_it_goes():
    bottomless = {"type": "odd"}
    bottomless["inner"] = bottomless

    assert "(deeper levels left out)" in read_parts([bottomless], "m")[0].text


def test_an_unknown_part_holds_nothing_that_cannot_be_sent():
    part = {"type": "odd\ud83d", "when": {1, 2}, "text": "a\x00\udfff"}

    json.dumps(read_parts([part], "m")[0].text, ensure_ascii=False).encode()


@pytest.mark.parametrize("content", [b"bytes", 5, {"type": "text", "text": "a"}, iter(())])
def test_content_is_a_string_or_a_list(content):
    with pytest.raises(BadMessage, match=r"^m: content: "):
        read_parts(content, "m")


@pytest.mark.parametrize("value", [{("a", "b"): 1}, [], 5.0, True])
def test_arguments_are_a_string_or_an_object(value):
    with pytest.raises(BadMessage, match=r"^m: "):
        arguments(value, "m")


def test_arguments_too_deep_to_write_are_named():
    deep = {}
    for _ in range(100_000):
        deep = {"a": deep}

    with pytest.raises(BadMessage, match=r"^m: .* is not an object that JSON can hold$"):
        arguments(deep, "m")


def test_a_class_is_not_taken_for_one_of_its_objects():
    class Shape:
        def model_dump(self):
            return {}

    assert plain(Shape(), "m", "a dict") == {}
    with pytest.raises(BadMessage):
        plain(Shape, "m", "a dict")
