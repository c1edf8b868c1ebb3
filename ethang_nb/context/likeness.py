"""Likeness: the content words of a sentence and the values it gives, so that two sentences can be compared.

A word list and a few endings, no grammar. Words that many rules have (`touch`, `use`, `report`) count little; numbers
and paths are compared as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ethang_nb.context.hearing import cue_in
from ethang_nb.context.sentences import plain, sentences
from ethang_nb.context.snapshot import Pin

__all__ = ["Likeness", "Rule", "best", "names", "rule", "said"]


class Likeness(NamedTuple):
    """The content words of a sentence.

    `strong` tell rules apart, in order; `weak` are in many rules; `does` are the acts it names, `covers` those that
    its rule is about.
    """

    strong: tuple[str, ...]
    weak: frozenset[str]
    does: frozenset[str]
    covers: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        return self.weak | frozenset(self.strong)


class Rule(NamedTuple):
    """A sentence that binds: in plain words, what it says, whole and rule by rule, and the values it gives.

    `parts`: a sentence must name each of them to lift them all. `forbids` and `bans`: whether it says no, in plain
    words or in any; `only`: whether it leaves one thing; `thing`: whether it keeps one out ("no new …").
    """

    text: str
    said: Likeness
    parts: tuple[Likeness, ...]
    values: Mapping[str, frozenset[str]]
    forbids: bool
    bans: bool
    only: bool
    thing: bool


_SAME = {
    word: group.split()[0]
    for group in (
        "edit touch change modify alter rewrite update reformat unchanged untouched frozen alone intact",
        "read open look view inspect",
        "use install add introduce employ",
        "delete remove drop erase",
        "answer reply respond answers",
        "report give show state print return output",
        "write draft phrase",
        "eur euro euros €",
        "usd dollar dollars $",
        "gbp pound pounds £",
        "chf franc francs",
        "postgres postgresql",
        "javascript js",
        "typescript ts",
        "mongodb mongo",
        "kubernetes k8s",
    )
    for word in group.split()
}
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1
    )
}
# Words that say how a sentence speaks, not of what.
_STOP_WORDS = """
a about actually after again all allowed also always am an and any anymore anyway applies apply are as at back ban be
been before below but by can can't cancel cannot changed chose chosen condition constraint constraints could counts
decided decision decisions did disregard do does doesn't don't dont ever every everything fine first for forget free
from go going good has hasn't have he her hers his hold holds i i'd i'll i'm idea if ignore important in instead
instruction into is isn't it it's its just least less let let's lets lift lifted longer make matters max maximum may
me mind minded minds more most must my necessary need needed needs never nevermind no nor not nothing now of off ok
okay on once only or our out outside over part permitted picked please pls preference put rather really requirement
requirements restriction rule rules said sake scrap settled shall she should so some sorry sticking still stop such
sure switching take than that that's the their them then there these they thing things this those to told too under
until up us very void was we we'll we're we've well were what when where which who why will with within without won't
would wrote yes yet you you're your
"""
_STOP = frozenset(_STOP_WORDS.split())
# What many rules speak of: it tells them apart only together with something else. A verb is often left out.
_WEAK_VERBS = """
answer ask avoid call commit delete edit find get keep leave limit open push quote read report run send set show stay
stick use work write
"""
_WEAK_NAMES = """
email file files log name new old order thing version
"""
_ACT_WORDS = """
ask call commit delete deploy edit email log merge move push quote read rename run send use write
"""
_FORBIDS = re.compile(
    r"\b(?:never|not|no|without|off[- ]limits|out of scope|frozen|forbidden|hands off|nothing|nobody"
    r"|cannot|dont)\b|n't\b"
)
_BANS = re.compile(_FORBIDS.pattern + r"|\b(?:avoid|refrain|keep|leave|only|stop|exclude|omit)\b")
_ONLY = re.compile(r"\bonly\b")
_STILL = re.compile(r"\b(?:keep|leave|unchanged|frozen|off[- ]limits|hands off|untouched)\b")
_THING = re.compile(r"(?:^|[,;:]\s?|\b(?:and|with|please)\s)no\s")
_PARTS = re.compile(r"[,;]|\band\b|\bbut\b|:\s")
_WORD = re.compile(r"[€$£]|\d[\d.,]*\d|[^\W_][\w./+#'’-]*")
_EXACT = re.compile(r"\d|[^\W\d_]\.[^\W\d_]|/.")

_ALTERNATIVES: Mapping[str, frozenset[str]] = {
    what: frozenset(names.split())
    for what, names in (
        (
            "database",
            "postgres mysql sqlite mariadb mongodb oracle duckdb cockroachdb dynamodb cassandra firebird",
        ),
        ("cache", "redis memcached valkey"),
        ("queue", "kafka rabbitmq sqs celery nats"),
        ("frontend", "react svelte vue angular solid htmx preact"),
        ("web framework", "django flask fastapi starlette express rails laravel spring"),
        (
            "programming language",
            "python rust go java kotlin javascript typescript ruby swift scala php haskell c++ c#",
        ),
        ("package manager", "pip poetry uv pipenv conda npm pnpm yarn bun"),
        ("test runner", "pytest unittest nose jest vitest mocha"),
        ("cloud", "aws gcp azure hetzner heroku"),
        ("payments", "stripe adyen paypal braintree"),
        ("operating system", "linux windows macos"),
        ("currency", "eur usd gbp chf jpy"),
        (
            "language",
            "english german french spanish italian portuguese dutch polish chinese japanese russian turkish",
        ),
        ("format", "json yaml toml csv markdown html xml latex"),
        ("units", "metric imperial"),
        ("indentation", "tabs spaces"),
        ("day", "monday tuesday wednesday thursday friday saturday sunday tomorrow today"),
        ("style", "css tailwind bootstrap sass"),
        ("repository", "monorepo polyrepo"),
        ("cipher", "jwt oauth saml sessions"),
    )
}
_OPTION = re.compile(r"\b(?:option|plan|variant|version|alternative|suggestion|draft)\s([a-z]|\d{1,2})\b")
_ORDINAL = re.compile(
    r"\bthe (first|second|third|fourth|last|other) (?:one|option|plan|variant|version|alternative|draft)\b"
)
_VERSION = re.compile(r"\b([a-z]{2,20})\sv?(\d{1,3}(?:\.\d{1,3}){1,2})\b")
_COUNT = re.compile(
    r"(?P<sign>[€$£])?\s?\b(?P<number>\d[\d.,]{0,15}|one|two|three|four|five|six|seven|eight|nine"
    r"|ten)\s?(?P<unit>%|[a-z]{1,20})?"
)
_UNIT_WORDS = """
% attempt bullet call char character chf column day eur example gb gbp hour item iteration kb line mb minute ms page
paragraph percent point request retry row second sentence step thread time token usd week word worker
"""
_MONEY = frozenset({"eur", "usd", "gbp", "chf"})
_BOUND = re.compile(r"(?:at most|more than|at least|max\.?|maximum(?: of)?|up to|under|below|within|to)\s*$")


@lru_cache(maxsize=4096)
def said(text: str) -> Likeness:
    """The content words of `text`."""
    spoken = plain(text)
    words = dict.fromkeys(_stem(piece) for raw in _WORD.findall(spoken) for piece in _pieces(raw))
    strong = tuple(word for word in words if word not in _WEAK)
    weak = frozenset(word for word in words if word in _WEAK)
    does = frozenset(word for word in words if word in _ACTS)
    covers = set(does)
    if _STILL.search(spoken):
        covers.add(_stem("edit"))
    if _THING.search(spoken):
        covers.add(_stem("use"))
    return Likeness(strong, weak, does, frozenset(covers))


@lru_cache(maxsize=1024)
def rule(text: str) -> Rule:
    """What a pin, or a sentence that may replace one, says."""
    spoken = plain(text)
    parts = [
        part
        for sentence in sentences(text)
        for part in _PARTS.split(sentence.heard)
        if cue_in(part.strip()) is not None
    ]
    return Rule(
        text=spoken,
        said=said(text),
        parts=tuple(map(said, parts)) if len(parts) > 1 else (said(text),),
        values=_values(spoken),
        forbids=_FORBIDS.search(spoken) is not None,
        bans=_BANS.search(spoken) is not None,
        only=_ONLY.search(spoken) is not None,
        thing=_THING.search(spoken) is not None,
    )


def names(focus: Likeness, parts: Sequence[Likeness]) -> int:
    """How well `focus` names each of `parts`, per mille; 0 where it names something that one of them has not."""
    return min((_names(focus, part) for part in parts), default=0)


def _names(focus: Likeness, part: Likeness) -> int:
    # A word too many is a narrower matter ("… in the tests"), and what holds for the rest goes on holding.
    if not focus.all - _VERBS <= part.all:
        return 0
    if focus.does and part.covers and not focus.does & part.covers:
        return 0
    if not focus.strong and (part.strong or not focus.weak):
        return 0
    total = 2 * len(focus.strong) + len(focus.weak)
    return 1000 * (2 * len(focus.strong) + len(focus.weak & part.weak)) // total + (focus.all == part.all)


def best(named: Iterable[tuple[int, Pin]], beside: Likeness | None = None) -> list[Pin]:
    """The pin named best, by what is said `beside` it where two are named alike.

    None where two different ones are named equally well; all of them where they say the same.
    """
    ranked = [
        ((score, len(set(beside.strong) & set(rule(pin.text).said.strong)) if beside else 0), pin)
        for score, pin in named
        if score
    ]
    top = max((rank for rank, _ in ranked), default=None)
    found = [pin for rank, pin in ranked if rank == top]
    alike = {(pin.kind, rule(pin.text).said.all, rule(pin.text).forbids) for pin in found}
    return found if len(alike) == 1 else []


def _values(spoken: str) -> Mapping[str, frozenset[str]]:
    """What of a known kind a sentence settles: {"database": {"mysql"}, "number of word": {"200"}}."""
    found: dict[str, set[str]] = {}
    for word in _WORD.findall(spoken):
        name = _SAME.get(word.rstrip(".'/"), word.rstrip(".'/"))
        for what, members in _ALTERNATIVES.items():
            if name in members:
                found.setdefault(what, set()).add(_stem(name))
    for option in (*_OPTION.findall(spoken), *_ORDINAL.findall(spoken)):
        found.setdefault("option", set()).add(option)
    for name, version in _VERSION.findall(spoken):
        if (
            name in _ALTERNATIVES["programming language"]
            or name in _ALTERNATIVES["database"]
            or name == "node"
        ):
            found.setdefault(f"version of {name}", set()).add(version)
    for count in _COUNT.finditer(spoken):
        unit = _stem(count["unit"]) if count["unit"] else ""
        if count["sign"]:
            unit = _SAME[count["sign"]]
        if unit in _UNITS or (unit and _BOUND.search(spoken[: count.start()])):
            what = "number of money" if unit in _MONEY else f"number of {unit}"
            number = count["number"].rstrip(".,")
            found.setdefault(what, set()).add(_NUMBERS.get(number, number))
    return {what: frozenset(given) for what, given in found.items()}


def _pieces(raw: str) -> Iterable[str]:
    word = raw.strip("./'’-")[:60]
    pieces = (word,) if _EXACT.search(word) else word.split("-")
    return (piece for piece in pieces if piece and piece not in _STOP)


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    if word in _SAME:
        return _SAME[word] if _SAME[word] == word else _stem(_SAME[word])
    if _EXACT.search(word):
        return _NUMBERS.get(word, word)
    if word in _NUMBERS:
        return _NUMBERS[word]
    stem = word
    if stem.endswith("ies") and len(stem) > 4:
        stem = stem[:-3] + "y"
    elif stem.endswith(("ing", "ed")) and len(stem) > 4:
        stem = stem.removesuffix("ing").removesuffix("ed")
        if stem[-1] == stem[-2] and stem[-1] not in "ls":
            stem = stem[:-1]  # logging, dropped
    elif stem.endswith("s") and len(stem) > 3 and stem[-2] not in "sui":
        stem = stem[:-1]
    base = stem.removesuffix("e") if len(stem) > 2 else stem
    for whole in (stem, base, base + "e"):
        if whole in _SAME and whole != word:
            return _stem(_SAME[whole])
    return base


_VERBS = frozenset(map(_stem, _WEAK_VERBS.split()))
_WEAK = _VERBS | frozenset(map(_stem, _WEAK_NAMES.split()))
_ACTS = frozenset(map(_stem, _ACT_WORDS.split()))
_UNITS = frozenset(map(_stem, _UNIT_WORDS.split()))
