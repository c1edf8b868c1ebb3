"""The head of a model file, and files that only claim to have one."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethang_nb.errors import PathRefused
from ethang_nb.providers.llamacpp.gguf import Head, head_of
from tests.providers.local_model import model_file


def text(value):
    return struct.pack("<Q", len(value)) + value


def field(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def head(*fields, version=3, count=None):
    count = len(fields) if count is None else count
    return b"GGUF" + struct.pack("<IQQ", version, 1, count) + b"".join(fields)


NAME = field(b"general.architecture", 8, text(b"llama"))
CONTEXT = field(b"llama.context_length", 4, struct.pack("<I", 4_096))


def read(tmp_path, content):
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    return head_of(path, "x.gguf")


def test_a_real_file():
    assert Head(context=8_192) == head_of(model_file(), "SmolLM2")


@pytest.mark.parametrize(
    "before",
    [
        (),
        (NAME,),
        (field(b"a.flag", 7, b"\x01"), field(b"a.small", 1, b"\xff"), field(b"a.large", 12, bytes(8))),
        (field(b"a.numbers", 9, struct.pack("<IQ", 6, 3) + bytes(12)),),
        (field(b"a.texts", 9, struct.pack("<IQ", 8, 2) + text(b"one") + text("zwei ü".encode())),),
        (field(b"tokenizer.llama.context_length", 4, bytes(4)),),
        (field(b"x.context_length", 8, text(b"long")),),
    ],
)
def test_the_context_is_found_behind_other_fields(tmp_path, before):
    assert Head(context=4_096) == read(tmp_path, head(*before, CONTEXT))


def test_sizes_of_other_widths(tmp_path):
    wide = field(b"qwen3.context_length", 10, struct.pack("<Q", 262_144))
    assert Head(context=262_144) == read(tmp_path, head(NAME, wide, version=2))


@pytest.mark.parametrize(
    "content",
    [
        head(NAME),
        head(),
        head(field(b"llama.context_length", 4, bytes(4))),
        b"GGUF" + struct.pack(">I", 3) + bytes(100),
        b"GGUF" + struct.pack("<I", 1) + bytes(100),
    ],
    ids=["silent", "empty", "nought", "big-endian", "old"],
)
def test_what_the_head_does_not_say_is_unknown(tmp_path, content):
    assert Head(context=None) == read(tmp_path, content)


@pytest.mark.parametrize(
    "content",
    [
        b"GGUF",
        b"GGUF\x03\x00",
        head(NAME, count=2),
        head(NAME, count=2**63),
        head(text(b"key")[:-1]),
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 2**62),
        head(field(b"k", 99, b"")),
        head(field(b"k", 9, struct.pack("<IQ", 4, 2**60))),
        head(field(b"k", 9, struct.pack("<IQ", 9, 1) + bytes(12))),
        head(field(b"k", 9, struct.pack("<IQ", 8, 3) + text(b"one"))),
    ],
)
def test_a_damaged_head_is_refused(tmp_path, content):
    with pytest.raises(PathRefused, match=r"x\.gguf is damaged"):
        read(tmp_path, content)


@pytest.mark.parametrize("content", [b"", b"GGU", b"FUGG", b"\x00" * 50, b"ggufxxxx"])
def test_what_does_not_begin_as_one_is_refused(tmp_path, content):
    with pytest.raises(PathRefused, match="no GGUF file"):
        read(tmp_path, content)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(PathRefused, match="cannot be read"):
        head_of(tmp_path, "a folder")


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(tmp_path_factory, rest):
    path = tmp_path_factory.mktemp("g") / "x.gguf"
    path.write_bytes(head(NAME, count=5) + rest)
    try:
        found = head_of(path, "x.gguf")
    except PathRefused:
        return
    assert found.context is None or found.context > 0
