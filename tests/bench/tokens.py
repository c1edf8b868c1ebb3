"""Counting against other counters: ordinary text, megabytes of one thing, and "is it over the limit?"."""

import os
import sys
import tempfile
from contextlib import contextmanager

import bpe_openai._bindings

from ethang_nb.context.window import Window
from ethang_nb.tokens.ranks import load
from ethang_nb.tokens.registry import counter
from tests.bench.timing import interleave, milliseconds, once, ratio, spread, times
from tests.bench.transcripts import transcript
from tests.tokens import estimates
from tests.tokens.corpora import base64_text, corpora

ENCODING = "o200k_base"
MEGABYTE = 1_000_000
BLOCK = 400  # messages of a transcript that are counted in one round
ENTRY = 50  # per mille of usable: the entry limit of a tool result (DESIGN 5, intake)
LIMITS = {
    f"{total // 1000}k": Window.of(total).usable * ENTRY // 1000 for total in (32_000, 200_000, 400_000)
}

OURS = counter(ENCODING)
PEERS = ("tiktoken encode_ordinary", "tiktoken encode", "bpe_openai count")


def counters():
    """Ours first, then the peers; each is a function from a text to its number of tokens."""
    tiktoken, bpe = load(ENCODING), bpe_openai._bindings.tokenizer_for_encoding(ENCODING)
    functions = (
        lambda text: len(tiktoken.encode_ordinary(text)),
        lambda text: len(tiktoken.encode(text, disallowed_special=())),
        bpe.count,
    )
    return {"ethang_nb count": OURS.count, **dict(zip(PEERS, functions, strict=True))}


def main():
    print(f"tokens of {ENCODING}; Nx: ours is that many times faster [quartiles of paired ratios]")
    ordinary_text()
    transcript_messages()
    one_thing()
    over_the_limit()
    print("\nerror of the estimate against a tokenizer it does not count with (cl100k)")
    print(estimates.table(estimates.errors()))


def ordinary_text():
    print(f"\n{'200,000 characters':<20}{'ours, MB/s':>12}" + "".join(f"{name:>28}" for name in PEERS))
    for kind, text in corpora(200_000).items():
        taken = interleave({name: _counting(count, [text]) for name, count in counters().items()})
        ours = taken.pop("ethang_nb count")
        speed = len(text.encode()) / spread(ours).median / 1e6
        print(
            f"{kind:<20}{speed:>12.1f}" + "".join(f"{times(ratio(taken[name], ours)):>28}" for name in PEERS)
        )


def transcript_messages():
    """Each round has messages that this process has not counted before, the same for all."""
    rounds = 7
    texts = [message["content"] for message in transcript((rounds + 1) * BLOCK)]
    blocks = [texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK)]

    def fresh(count):
        left = iter(blocks)
        return lambda: sum(map(count, next(left)))

    taken = interleave({name: fresh(count) for name, count in counters().items()}, rounds=rounds)
    ours = taken.pop("ethang_nb count")
    print(f"\n{BLOCK} messages of a transcript, other ones each round: ours {milliseconds(ours)}")
    for name in PEERS:
        print(f"  {name:<28}{times(ratio(taken[name], ours))}")


def pathological():
    return {
        "one letter": "a" * MEGABYTE,
        "blanks": " " * MEGABYTE,
        "line ends": "\n" * MEGABYTE,
        "base64": base64_text(MEGABYTE),
        "digits": "7" * MEGABYTE,
        "NUL": "\0" * MEGABYTE,
        "one ideograph": "漢" * (MEGABYTE // 3),
        "special tokens": "<|endoftext|>" * (MEGABYTE // 13),
        "lone surrogates": "\ud800" * (MEGABYTE // 3),
    }


def one_thing():
    """The first call in this process: that is the one a session waits for."""
    print(
        f"\n{'1 MB of':<20}{'tokens':>10}{'ours, s':>10}" + "".join(f"{name + ', s':>28}" for name in PEERS)
    )
    for name, text in pathological().items():
        taken = [_first(count, text) for count in counters().values()]
        print(
            f"{name:<20}{OURS.count(text):>10,}{taken[0]:>10}" + "".join(f"{said:>28}" for said in taken[1:])
        )


def over_the_limit():
    """Whether a megabyte is over the entry limit of three windows, against counting it."""
    head = "".join(f"{f'{window} window ({limit:,})':>30}" for window, limit in LIMITS.items())
    print(f"\n{'over the limit?':<20}{'tokens':>10}{'counting it':>28}{head}")
    one = {
        name: text for name, text in pathological().items() if name in ("one letter", "blanks", "line ends")
    }
    for kind, text in (corpora(MEGABYTE) | one).items():
        tasks = {"count": _counting(OURS.count, [text])}
        tasks |= {window: _asking(text, limit) for window, limit in LIMITS.items()}
        taken = interleave(tasks)
        row = "".join(f"{times(ratio(taken['count'], taken[window])):>30}" for window in LIMITS)
        print(f"{kind:<20}{OURS.count(text):>10,}{milliseconds(taken['count']):>28}{row}")


def _counting(count, texts):
    return lambda: sum(map(count, texts))


def _asking(text, limit):
    return lambda: OURS.over(text, limit)


def _first(count, text):
    try:
        with _quiet():
            return f"{once(lambda: count(text)):.3f}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # tiktoken's panic is no Exception
        return type(error).__name__


@contextmanager
def _quiet():
    """Nothing on standard error, where a panic of Rust prints its trace."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
