"""Seeded strings that are hard for a tokenizer: what the two patterns treat in ways of their own, mixed."""

import random

# Alternatives of the patterns: cases, contractions, digits in threes, punctuation with line ends and slashes,
# white space of every kind, marks that count as letters or as punctuation, scripts without spaces.
ATOMS = (
    *"aZéßǅʰあ中한🙂١Ⅳ",
    *"01",
    *"'.,;/\\_-+={}()\"<>|",
    *" \t\n\r\x0b\x0c\x1c\x85\xa0\u1680\u2003\u2028\u3000\u200b\u200d\u0301\u20e3\x00\ufffd\ufeff",
    "'s",
    "'RE",
    "'ſ",
    "\r\n",
    "  ",
    "//",
    "word",
    "Word",
    " the",
    "<|endoftext|>",
    "🏳️‍🌈",
    "\ud83d\ude42",
    "\ud800",
)


def tangle(seed, length):
    """About `length` characters: single atoms, and runs of one atom or of a few."""
    source = random.Random(seed)
    parts = []
    size = 0
    while size < length:
        pool = source.choices(ATOMS, k=source.choice((1, 1, 2, 4)))
        part = "".join(source.choices(pool, k=source.choice((1, 1, 1, 3, 10, 60))))
        parts.append(part)
        size += len(part)
    return "".join(parts)


def base64ish(seed, length):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(random.Random(seed).choices(letters, k=length))
