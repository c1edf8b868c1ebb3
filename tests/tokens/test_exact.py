"""The exact counter is tiktoken, without its limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.tokens import cuts
from ethang_nb.tokens.exact import ExactCounter
from ethang_nb.tokens.ranks import ENCODINGS, load
from tests.tokens.peers import peer
from tests.tokens.strings import base64ish, tangle

MILLION = 1_000_000
O200K = ExactCounter(name="o200k_base")
CL100K = ExactCounter(name="cl100k_base")

RUNS = {
    "blanks": " " * MILLION,
    "blanks before a word": " " * MILLION + "x",
    "blanks after a word": "x" + " " * MILLION,
    "blanks before a line end": " " * MILLION + "\n",
    "tabs": "\t" * MILLION,
    "no-break spaces": "\xa0" * MILLION + "x",
    "line ends": "\n" * MILLION,
    "line ends before a slash": ";" + "\n" * MILLION + "/x",
    "line ends of two characters": "\r\n" * (MILLION // 2),
    "one letter": "a" * MILLION,
    "one capital": "A" * MILLION,
    "one ideograph": "中" * (MILLION // 3),
    "one emoji": "🙂" * (MILLION // 4),
    "one mark": "\u0301" * (MILLION // 2),
    "NUL": "\0" * MILLION,
    "digits": "7" * MILLION,
    "dashes": "-" * MILLION,
    "base64": base64ish(1, MILLION),
    "hexadecimal": bytes(range(256)).hex() * (MILLION // 512),
}


def watched(patch, encoding):
    """The lengths of the texts that tiktoken is given from now on."""
    tokenizer, lengths = load(encoding), [0]
    encode, merge = tokenizer.encode_ordinary, tokenizer._encode_single_piece

    def encoding_of(text):
        lengths.append(len(text))
        return encode(text)

    def merge_of(piece):
        lengths.append(len(piece))
        return merge(piece)

    patch.setattr(tokenizer, "encode_ordinary", encoding_of)
    patch.setattr(tokenizer, "_encode_single_piece", merge_of)
    return lengths


def native(encoding, text):
    """What tiktoken itself says, which holds for texts short enough for it."""
    return len(load(encoding).encode_ordinary(text))


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("Don't touch migrations/", 4, 5),
        ("<|endoftext|>", 7, 7),
        ("<|im_start|>system<|im_end|>", 13, 13),
        ("a\0b", 3, 3),
        ("中文字符", 2, 3),
        ("🙂", 1, 2),
        ("    return x\n", 4, 4),
        ("1234567", 3, 3),
    ],
)
def test_known_counts(text, o200k, cl100k):
    """Counts written down once; a change of a library must not move them."""
    assert (o200k, cl100k) == (O200K.count(text), CL100K.count(text))


def test_special_tokens_are_plain_text():
    """A tool result that holds the name of a special token is counted, not refused and not obeyed."""
    assert O200K.count("<|endoftext|>") > 1
    assert O200K.count("x <|endoftext|> y" * 5_000) == native("o200k_base", "x <|endoftext|> y" * 5_000)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("filler", ["", "word " * 5_000])
def test_lone_surrogates_count_as_the_replacement_character(encoding, filler):
    counter = ExactCounter(name=encoding)
    assert counter.count(filler + "a\ufffdb") == counter.count(filler + "a\ud800b")
    assert counter.count(filler + "🙂") == counter.count(filler + "\ud83d\ude42")


def test_a_million_blanks():
    """The text that makes tiktoken's own regex engine panic; the number is the peers'."""
    assert O200K.count(" " * MILLION) == 7_813


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", RUNS)
def test_a_megabyte_of_one_thing_is_counted(encoding, name):
    """Never an error, and nothing is cut so long that merging it takes more than its share of time.

    How long it takes, `python -m tests.bench tokens` says.
    """
    with pytest.MonkeyPatch.context() as patch:
        longest = watched(patch, encoding)
        assert ExactCounter(name=encoding).count(RUNS[name]) > 0
    assert max(longest) <= cuts.LONGEST + cuts.BLOCK


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", RUNS)
def test_a_megabyte_of_one_thing_is_counted_exactly(encoding, name):
    assert peer(encoding).count(RUNS[name]) == ExactCounter(name=encoding).count(RUNS[name])


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(12))
def test_cutting_keeps_the_count(encoding, seed, monkeypatch):
    """With cuts every few characters, hard strings count as they do uncut."""
    text = tangle(seed, 12_000)
    uncut = native(encoding, text)
    for longest, block in ((40, 8), (400, 50), (4_000, 512)):
        monkeypatch.setattr("ethang_nb.tokens.exact.LONGEST", longest)
        monkeypatch.setattr(cuts, "LONGEST", longest)
        monkeypatch.setattr(cuts, "BLOCK", block)
        monkeypatch.setattr("ethang_nb.tokens.exact.BLOCK", block)
        assert uncut == ExactCounter(name=encoding).count(text), (longest, block)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=st.text(st.sampled_from(" \n\r\t/;a1A'\u0301中🙂"), min_size=10, max_size=60))
@settings(max_examples=300, deadline=None)
def test_cutting_any_short_text_keeps_the_count(encoding, text):
    """Every pair of characters that the rules of cutting look at, met in every order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ethang_nb.tokens.exact.LONGEST", 6)
        patch.setattr(cuts, "LONGEST", 6)
        patch.setattr(cuts, "BLOCK", 3)
        patch.setattr("ethang_nb.tokens.exact.BLOCK", 3)
        assert native(encoding, text) == ExactCounter(name=encoding).count(text)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(20))
def test_long_texts_count_as_the_peer_counts_them(encoding, seed):
    text = tangle(1_000 + seed, 60_000).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert peer(encoding).count(text) == ExactCounter(name=encoding).count(text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_many_short_texts_count_as_the_peer_counts_them(encoding):
    counter, other = ExactCounter(name=encoding), peer(encoding)
    for seed in range(2_000):
        text = tangle(seed, 1 + seed % 90).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        assert other.count(text) == counter.count(text), seed


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(seed=st.integers(0, 10_000), length=st.integers(0, 300), limit=st.integers(-1, 300))
@settings(max_examples=200, deadline=None)
def test_over_is_a_comparison_of_the_count(encoding, seed, length, limit):
    counter, text = ExactCounter(name=encoding), tangle(seed, length)
    assert (counter.count(text) > limit) == counter.over(text, limit)


@pytest.mark.parametrize("name", ["blanks", "one letter", "base64"])
def test_over_is_exact_at_the_limit_of_a_long_text(name):
    tokens = O200K.count(RUNS[name])
    assert O200K.over(RUNS[name], tokens - 1)
    assert not O200K.over(RUNS[name], tokens)


def test_over_reads_no_more_than_it_needs(monkeypatch):
    """100 MB of prose are judged without counting any of them, and 10 MB of ideographs by their first part."""
    lengths = watched(monkeypatch, "o200k_base")
    text = "nothing is read of this. " * 4_000_000
    assert O200K.over(text, 8_000)
    assert O200K.over(text, 1_000_000 - 1)
    assert [0] == lengths
    assert O200K.over("中文字符。" * 700_000, 60_000)
    assert sum(lengths) < 700_000
