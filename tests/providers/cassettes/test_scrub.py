"""Scrubbing: no secret stays, nothing else changes, JSON stays JSON, and the time grows as the text does."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethang_nb.providers.cassettes.scrub import MASK, scrub
from ethang_nb.providers.cassettes.scrub_stream import scrub_stream
from tests.providers.planted import SECRETS

VALUES = {
    "bearer": "Authorization: Bea" + "rer {9f8e7d6c5b4a39281706f5e4}",
    "basic": "authorization: Bas" + "ic {dXNlcjpwYXNzd29yZA==}",
    "assignment": "OPENAI_API" + "_KEY={abcd1234efgh5678}",
    "yaml": "pass" + "word: {hunter2hunter2}",
    "quoted": "client_sec" + "ret = '{x9y8z7w6v5}'",
    "login": "postgres://app:{S3cr3tPw}@db.example/prod",
    "signed": "https://bucket.example/x?X-Amz-Sig" + "nature={0123456789abcdef}&n=1",
    "storage": "Account" + "Key={YWJjZDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTA=};Endpoint=x",
}
HARMLESS = (
    "The build needs no API key.",
    "Set apiKey from import.meta.env.VITE_API_KEY in config.ts.",
    "Rotate passwords every 90 days.",
    "The token counter counts tokens per step.",
    "password = os.environ['DB_PASSWORD_2']",
    "api_key: str | None = None",
    "api_key = your-key-here",
    '{"max_tokens":1024,"token":"the","next_page_token":"CAUQAA12345678"}',
    "sk-learn-contrib-project-templates are on GitHub",
    "Remote is ssh://git@git.example.com/team/app.git",
    "http://127.0.0.1:8000/v1 at 12:30:45",
    "call_a1B2c3D4e5F6g7H8 toolu_01A2b3C4d5E6f7G8h9 chatcmpl-9f8e7d6c5b4a3928 msg_0123456789abcdef",
    "Bearer of the ring; basic responsibilities; a bearer instrument",
    "export KEY=[YOUR_API_KEY] and see [MY_TOKEN]",
    "spill://0123456789ab log://12 file:a.txt#L1-9@0a1b2c3d",
)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_known_shape_goes_wherever_it_stands(secret):
    for before, after in (("", ""), ("key ", "."), ("(", ")"), ("\n", "\n"), ("=", ","), ("é", " é")):
        assert before + MASK + after == scrub(before + secret + after)
    # In a string of JSON an escape may stand right before it, and JSON may stand in a string of JSON.
    text = f"first\n{secret}\tlast"
    for packed in (json.dumps(text), json.dumps({"arguments": json.dumps({"t": [text]})})):
        clean = scrub(packed)
        assert secret not in clean
        assert json.loads(clean) == json.loads(packed.replace(secret, MASK))


@pytest.mark.parametrize("text", VALUES.values(), ids=VALUES)
def test_a_value_goes_and_its_name_stays(text):
    before, rest = text.split("{")
    secret, after = rest.split("}")
    assert before + MASK + after == scrub(before + secret + after)
    whole = json.dumps({"a": [f"x\n{before}{secret}{after}"]})
    assert json.loads(scrub(whole)) == {"a": [f"x\n{before}{MASK}{after}"]}


def test_a_field_of_json_goes_whatever_is_in_it():
    text = json.dumps({"pass" + "word": 'a"b\\c1\u00e9d', "db_sec" + "ret": "abc12345", "n": 1})
    assert {"password": MASK, "db_secret": MASK, "n": 1} == json.loads(scrub(text))


@pytest.mark.parametrize("end", ["-----END RSA PRIVATE KEY-----", ""])
def test_a_key_block_goes_and_what_follows_it_stays(end):
    block = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIB+/=\nAAAA\n" + end
    assert "a\n" + MASK == scrub("a\n" + block).rstrip("\n")
    if end:
        assert f"a\n{MASK}\nrest" == scrub(f"a\n{block}\nrest")
        assert {"k": f"{MASK}\nrest"} == json.loads(scrub(json.dumps({"k": f"{block}\nrest"})))


@pytest.mark.parametrize("text", HARMLESS)
def test_what_has_no_secret_stays_byte_for_byte(text):
    for form in (text, json.dumps(text), json.dumps({"a": json.dumps({"b": f"\n{text}\n"})})):
        assert form == scrub(form)


def test_a_credential_of_ours_goes_whatever_it_looks_like_and_as_any_other_does(monkeypatch):
    key = "plain words as a key"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    monkeypatch.setenv("OPENAI_API_KEY", SECRETS["openai"])
    assert f"it is {MASK}" == scrub(f"it is {key}")
    # Without the key in the environment its shape stands there: what is masked must read the same.
    assert scrub(f"it is {SECRETS['openai']}") == f"it is {MASK}" == scrub("it is [OPENAI_API_KEY]")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
PARTS = [*SECRETS.values(), *HARMLESS, "pass" + "word: ", '"', "\\", "\n", '\\"', "{", "data: "]
MIXED = st.lists(st.sampled_from(PARTS) | st.text(max_size=12), max_size=8)


@given(JSON, MIXED)
@settings(max_examples=150, deadline=None)
def test_json_stays_json_and_scrubbing_again_changes_nothing(value, parts):
    for text in ("".join(parts), " ".join(parts)):
        packed = json.dumps([value, text, {text: json.dumps([text])}], ensure_ascii=text == "")
        clean = scrub(packed)
        json.loads(clean)
        assert clean == scrub(clean)
        assert scrub(text) == scrub(scrub(text))
    assert not any(secret in clean for secret in SECRETS.values())


@given(
    st.integers(0, 40),
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
@settings(max_examples=60, deadline=None)
def test_a_secret_that_comes_in_pieces_goes_from_the_stream_and_the_rest_of_the_text_stays(start, sizes, end):
    said = "x" * start + " the key is " + SECRETS["openai"] + " and that is all"
    pieces, at = [], 0
    for number in range(len(said)):
        pieces.append(said[at : at + sizes[number % len(sizes)]])
        at += sizes[number % len(sizes)]
    events = [{"choices": [{"index": 0, "delta": {"content": piece}}], "n": 1} for piece in pieces if piece]
    stream = "".join(f"data: {json.dumps(event)}{end}{end}" for event in events) + f"data: [DONE]{end}{end}"
    clean = scrub_stream(stream)
    rows = [json.loads(line[6:]) for line in clean.split(end) if line.startswith("data: {")]
    assert said.replace(SECRETS["openai"], MASK) == "".join(
        row["choices"][0]["delta"]["content"] for row in rows
    )
    assert len(events) == len(rows)
    assert clean == scrub_stream(clean)


def test_two_texts_that_come_by_turns_are_told_apart():
    key = SECRETS["groq"]
    halves = [
        {"index": 0, "delta": {"partial_json": key[:9]}},
        {"index": 1, "delta": {"partial_json": "abc"}},
        {"index": 0, "delta": {"partial_json": key[9:]}},
        {"index": 1, "delta": {"partial_json": "def"}},
    ]
    clean = scrub_stream("".join(f"event: d\ndata: {json.dumps(half)}\n\n" for half in halves))
    rows = [
        json.loads(line[6:])["delta"]["partial_json"]
        for line in clean.splitlines()
        if line.startswith("data")
    ]
    assert [MASK, "abc", "", "def"] == rows


def test_a_stream_without_secrets_stays_byte_for_byte():
    stream = ': ping\r\nevent: x\r\ndata: {"a": "b"}\r\n\r\ndata:{"t":"é\u2028"}\n\ndata: broken {\n\ndata: [DONE]\n\n'
    assert stream == scrub_stream(stream)


LONG = {
    "A": "A" * 256_000,
    "a.": "a." * 128_000,
    "9": "9" * 256_000,
    "-": "-" * 256_000,
    "quotes": '"' + '\\"' * 128_000,
    "open string": '"' + '\\"' * 128_000 + "\\",
    "half a block": "-----BEGIN RSA PRIVATE" + " KEY-----" + "\\nAAAA" * 40_000,
    "many blocks": ("-----BEGIN RSA PRIVATE" + " KEY-----") * 8_000,
    "urls": "a://" * 60_000,
    "names": ("pass" + "word=") * 30_000,
    "fields": ('"pass' + 'word":"') * 20_000,
    "spaces": "sec" + "ret:" + " " * 250_000,
    "prefixes": "sk-" * 90_000,
    "tokens": "eyJ" * 90_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_text_takes_time_as_it_is_long(text):
    """A quarter of a million characters; a pattern that takes the square of them would need minutes."""
    for form in (text, json.dumps(text)):
        begun = time.perf_counter()
        scrub(form)
        assert time.perf_counter() - begun < 5
