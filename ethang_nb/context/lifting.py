"""Lifting: which pin a later sentence of the owner's takes back. Rules over words, nothing more.

A sentence names a pin by the content words they share, and says in one of the ways of LIFTS that it is lifted. In
doubt a pin holds: under a condition or for this once, where a pin has two rules and only one is named, where two
pins are named equally well, and for sweeping words ("forget all the rules"). What is left then is unpinned by
hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ethang_nb.context.hearing import hush
from ethang_nb.context.likeness import best, names, rule, said
from ethang_nb.context.sentences import Sentence, plain
from ethang_nb.context.snapshot import Pin

__all__ = ["LIFTS", "Lifting", "taken_back"]

Liftable = Literal["any", "decision", "ban", "thing", "duty"]


class Lifting(NamedTuple):
    """A way to take a rule back: which pins it can lift, a pin that holds and a sentence that lifts it.

    `of`: "any" pin, a "decision", a "ban" (a constraint that forbids), a "thing" (one that keeps something out) or
    a "duty" (one that does not forbid). One of `words` stands in every sentence that can match; the groups of
    `pattern` hold what is lifted.
    """

    name: str
    of: Liftable
    holding: str
    example: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _lifting(name: str, of: Liftable, holding: str, example: str, words: str, *ways: str) -> Lifting:
    return Lifting(name, of, holding, example, tuple(words.split("|")), re.compile("|".join(ways)))


_NOW = (
    r"(?:^|[,;:~]\s?|\b(?:please|ok|okay|so|now|just|also|actually|then|let's|you can|you may|we can|sorry"
    r"|but|well|hey)\s)"
)
_FORGET = (
    r"(?:forget(?: about)?|ignore|disregard|drop|scrap|scratch|cancel|lift|withdraw|retract|take back"
    r"|never ?mind)"
)
_RULE = r"(?:rule|constraint|restriction|requirement|ban|instruction|preference)s?"
_MATTER = r"(?:limit|deadline|budget|decision|idea|plan|thing|part|condition)s?"
_WHAT = r"([^,;]*?)(?=\s(?:but|because|since|so|as)\b|[,;]|$)"
_BEFORE = r"(?:^|[,;:]\s?)([^,;:]*)"

LIFTS: tuple[Lifting, ...] = (
    _lifting(
        "forget the rule",
        "any",
        "Never open document 17.",
        "Forget the rule about document 17.",
        "forget|ignore|disregard|drop|scrap|scratch|cancel|lift|withdraw|retract|take back|never mind|nevermind"
        "|remove|revoke|void|relax|undo|skip|get rid of",
        rf"{_NOW}(?:{_FORGET}|remove|revoke|void|relax|undo|skip|get rid of)\s(?=[^,;]*\b{_RULE}\b){_WHAT}",
    ),
    _lifting(
        "forget the limit",
        "any",
        "Budget is 500 euros.",
        "Forget about the budget.",
        "forget|ignore|disregard|drop|scrap|scratch|cancel|lift|withdraw|retract|take back|never mind|nevermind",
        rf"{_NOW}{_FORGET}\s(?=[^,;]*\b{_MATTER}\b){_WHAT}",
    ),
    _lifting(
        "what I said",
        "any",
        "We're going with Postgres.",
        "Never mind what I said about Postgres.",
        "forget|ignore|disregard|drop|scrap|scratch|cancel|lift|withdraw|retract|take back|never mind|nevermind",
        rf"{_NOW}{_FORGET}\s(?:what|everything|all|that)\s(?:i|we)\s(?:said|told you|wrote)\s{_WHAT}",
    ),
    _lifting(
        "forget it",
        "decision",
        "We're going with Postgres.",
        "Forget Postgres.",
        "forget|scratch",
        rf"{_NOW}(?:forget(?: about)?|scratch)\s(?!to\b){_WHAT}",
    ),
    _lifting(
        "applies no longer",
        "any",
        "Never log customer emails.",
        "The rule about logging customer emails no longer applies.",
        "appl|hold|count|matter",
        rf"{_BEFORE}\b(?:no longer|does not|doesn't|do not|don't) (?:appl(?:y|ies)|holds?|counts?"
        rf"|matters?)\b{_WHAT}",
    ),
    _lifting(
        "is no longer forbidden",
        "any",
        "migrations/ is off limits.",
        "migrations/ is no longer off limits.",
        "no longer",
        rf"{_BEFORE}\b(?:is|are) no longer (?:required|necessary|needed|binding|in force|valid"
        rf"|off[- ]limits|out of scope|frozen|forbidden|prohibited|a (?:rule|requirement|constraint"
        rf"|must))\b{_WHAT}",
    ),
    _lifting(
        "need not",
        "duty",
        "Report the cap in EUR.",
        "The cap no longer has to be in EUR.",
        "no longer|n't|do not|does not|need not|not necessary",
        rf"{_BEFORE}\b(?:no longer (?:has to|have to|needs? to|must)|(?:do not|don't|does not"
        rf"|doesn't) (?:have to|need to)|need not|needn't|not necessary to)\b{_WHAT}",
    ),
    _lifting(
        "you may",
        "ban",
        "Don't touch migrations/",
        "You may touch migrations/ now.",
        "you|feel free|go ahead|it's|it is",
        rf"(?:\byou(?:'re| are)? (?:now )?(?:may|can|could|allowed to|free to|welcome to|permitted to)"
        rf"|\bfeel free to|\bgo ahead and|\bit(?:'s| is) (?:now )?(?:fine|ok|okay|all right|alright"
        rf"|allowed) (?:now )?(?:to|for you to))(?! (?:not|only|never|still|no|hardly)\b)\s{_WHAT}",
    ),
    _lifting(
        "is allowed",
        "ban",
        "No new dependencies",
        "New dependencies are allowed now.",
        "allowed|permitted|welcome",
        rf"{_BEFORE}\b(?:is|are) (?:now )?(?:allowed|permitted|welcome)\b",
    ),
    _lifting(
        "is fine now",
        "thing",
        "No new dependencies",
        "New dependencies are fine now.",
        "fine|ok|right",
        rf"{_BEFORE}\b(?:is|are) (?:fine|ok|okay|all right|alright) (?:now|again|after all|too|as well)\b",
    ),
    _lifting(
        "the rule is gone",
        "any",
        "Never open document 17.",
        "The ban on document 17 is lifted.",
        "lifted|off|void|gone|cancel|obsolete|dropped|withdrawn|removed|relaxed|moot|history",
        rf"(?:^|[,;:]\s?)(?=[^,;:]*\b(?:{_RULE}|{_MATTER})\b)([^,;:]*)\b(?:is|are|has been"
        rf"|have been) (?:now )?(?:lifted|off|void|gone|cancell?ed|obsolete|dropped|withdrawn|removed"
        rf"|relaxed|moot|history)\b",
    ),
    _lifting(
        "decided against",
        "decision",
        "We're going with Postgres.",
        "We're not going with Postgres any more.",
        "we|i|after all",
        rf"\bwe(?:'re| are) (?:not|no longer) (?:going with|going for|using|doing|keeping"
        rf"|sticking with)\s{_WHAT}",
        rf"\bwe(?:'re| are) (?:dropping|abandoning|giving up on)\s{_WHAT}",
        rf"\b(?:we|i)(?:'ve| have)? decided against\s{_WHAT}",
        r"^no ([^,;]+) after all\b",
        rf"\b(?:we|i) (?:won't|will not) (?:use|go with|keep)\s{_WHAT}",
    ),
)

_HEARD = ("question", "guess or wish", "attribution", "someone's report")
# Not for good, or not yet.
_CONDITION = re.compile(
    r"\b(?:if|unless|until|once|when|whenever|except|as soon as|as long as|provided|this time|for now"
    r"|today|maybe|perhaps|might|(?:may|can|should) only|only (?:if|when|after|once|for|this|with)"
    r"|for this (?:one|file|task))\b"
)
_NEGATED = re.compile(r"\b(?:nothing|none|not|never|neither|nobody)\b|n't\b")
_OUTSIDE = re.compile(r"\b(?:outside|besides|beyond|other than|apart from)\b")
_MORE = re.compile(r"\b(?:others?|else|elsewhere|anything|also|too|as well)\b")
_DOING = re.compile(r"\W*\w+ing\b")


def taken_back(sentence: Sentence, pins: Sequence[Pin]) -> list[Pin]:
    """The pins that a sentence lifts without putting anything in their place."""
    ways = [way for way in LIFTS if any(word in sentence.heard for word in way.words)]
    heard = hush(sentence.heard, _HEARD) if ways else ""
    if not heard or _CONDITION.search(heard):
        return []
    spoken = plain(sentence.text)
    for way in ways:
        match = way.pattern.search(heard)
        if match is None:
            continue
        # It is said in words that are heard; what it names may stand in quotes or backticks.
        match = way.pattern.search(spoken) or match
        what = " ".join(part for part in match.groups() if part)
        named = [
            (names(said(what), rule(pin.text).parts), pin) for pin in pins if _can(way, what, spoken, pin)
        ]
        if found := best(named):
            return found
    return []


def _can(way: Lifting, what: str, spoken: str, pin: Pin) -> bool:
    """Whether this kind of pin can be lifted in this way."""
    held = rule(pin.text)
    if way.of == "any":
        return True
    if _NEGATED.search(what):
        return False
    if way.of == "decision" or pin.kind == "decision":
        return way.of == pin.kind
    if way.of == "duty":
        return not held.forbids
    if way.of == "thing":
        avoided = held.text.find("avoid") >= 0 and said(what).strong == held.said.strong
        return held.thing or avoided or _DOING.match(what) is not None
    outside = _OUTSIDE.search(spoken) is not None
    if held.only:  # "You may use the stdlib" leaves "Use only the stdlib" standing
        return outside or _MORE.search(spoken) is not None
    if outside or not held.bans:
        return False
    does, covers = said(what).does, held.said.covers
    return way.name != "you may" or bool(does & covers) or not (does or covers)
