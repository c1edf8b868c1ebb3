"""Lifting: which pin a later sentence of the owner's takes back or replaces. Rules over words, nothing more.

A sentence names a pin by the content words they share; beside that it must say that something is lifted, or
bind anew what the pin bound otherwise. In doubt a pin holds: where two pins are named equally well, under a
condition or for this once, where a pin has two rules and only one is named, and for sweeping words ("forget
all the rules"), nothing is lifted. What is left then is unpinned by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from ethang_nb.context.hearing import cue_in, hush
from ethang_nb.context.likeness import Likeness, names, said, values
from ethang_nb.context.sentences import Sentence, plain, sentences
from ethang_nb.context.snapshot import Pin

__all__ = ["LIFTS", "Lifting", "replaced", "taken_back"]


class Lifting(NamedTuple):
    """A way to take a rule back: which pins it can lift, a pin that holds and a sentence that lifts it.

    `of`: "any" pin, a "decision", a "ban" (a constraint that forbids), a "thing" (one that keeps something out) or a
    "duty" (one that does not forbid). The groups of `pattern` hold what is lifted.
    """

    name: str
    of: Literal["any", "decision", "ban", "thing", "duty"]
    holding: str
    example: str
    pattern: re.Pattern[str]


def _lifting(
    name: str, of: Literal["any", "decision", "ban", "thing", "duty"], holding: str, example: str, *ways: str
) -> Lifting:
    return Lifting(name, of, holding, example, re.compile("|".join(ways)))


_NOW = (
    r"(?:^|[,;:~]\s?"
    r"|\b(?:please|ok|okay|so|now|just|also|actually|then|let's|you can|you may|we can|sorry|but|well|hey)\s)"
)
_FORGET = r"(?:forget(?: about)?|ignore|disregard|drop|scrap|scratch|cancel|lift|withdraw|retract|take back|never ?mind)"
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
        rf"{_NOW}(?:{_FORGET}|remove|revoke|void|relax|undo|skip|get rid of)\s(?=[^,;]*\b{_RULE}\b){_WHAT}",
    ),
    _lifting(
        "forget the limit",
        "any",
        "Budget is 500 euros.",
        "Forget about the budget.",
        rf"{_NOW}{_FORGET}\s(?=[^,;]*\b{_MATTER}\b){_WHAT}",
    ),
    _lifting(
        "what I said",
        "any",
        "We're going with Postgres.",
        "Never mind what I said about Postgres.",
        rf"{_NOW}{_FORGET}\s(?:what|everything|all|that)\s(?:i|we)\s(?:said|told you|wrote)\s{_WHAT}",
    ),
    _lifting(
        "forget it",
        "decision",
        "We're going with Postgres.",
        "Forget Postgres.",
        rf"{_NOW}(?:forget(?: about)?|scratch)\s(?!to\b){_WHAT}",
    ),
    _lifting(
        "applies no longer",
        "any",
        "Never log customer emails.",
        "The rule about logging customer emails no longer applies.",
        rf"{_BEFORE}\b(?:no longer|does not|doesn't|do not|don't) (?:appl(?:y|ies)|holds?|counts?"
        rf"|matters?)\b{_WHAT}",
    ),
    _lifting(
        "is no longer forbidden",
        "any",
        "migrations/ is off limits.",
        "migrations/ is no longer off limits.",
        rf"{_BEFORE}\b(?:is|are) no longer (?:required|necessary|needed|binding|in force|valid|off[- ]limits"
        rf"|out of scope"
        rf"|frozen|forbidden|prohibited|a (?:rule|requirement|constraint|must))\b{_WHAT}",
    ),
    _lifting(
        "need not",
        "duty",
        "Report the cap in EUR.",
        "The cap no longer has to be in EUR.",
        rf"{_BEFORE}\b(?:no longer (?:has to|have to|needs? to|must)|(?:do not|don't|does not"
        rf"|doesn't) (?:have to|need to)"
        rf"|need not|needn't|not necessary to)\b{_WHAT}",
    ),
    _lifting(
        "you may",
        "ban",
        "Don't touch migrations/",
        "You may touch migrations/ now.",
        r"(?:\byou(?:'re| are)? (?:now )?(?:may|can|could|allowed to|free to|welcome to|permitted to)"
        r"|\bfeel free to|\bgo ahead and"
        r"|\bit(?:'s| is) (?:now )?(?:fine|ok|okay|all right|alright|allowed) (?:now )?(?:to|for you to))"
        rf"(?! (?:not|only|never|still|no|hardly)\b)\s{_WHAT}",
    ),
    _lifting(
        "is allowed",
        "ban",
        "No new dependencies",
        "New dependencies are allowed now.",
        rf"{_BEFORE}\b(?:is|are) (?:now )?(?:allowed|permitted|welcome)\b",
    ),
    _lifting(
        "is fine now",
        "thing",
        "No new dependencies",
        "New dependencies are fine now.",
        rf"{_BEFORE}\b(?:is|are) (?:fine|ok|okay|all right|alright) (?:now|again|after all|too|as well)\b",
    ),
    _lifting(
        "the rule is gone",
        "any",
        "Never open document 17.",
        "The ban on document 17 is lifted.",
        rf"(?:^|[,;:]\s?)(?=[^,;:]*\b(?:{_RULE}|{_MATTER})\b)([^,;:]*)\b(?:is|are|has been"
        rf"|have been) (?:now )?(?:lifted|off"
        r"|void|gone|cancell?ed|obsolete|dropped|withdrawn|removed|relaxed|moot|history)\b",
    ),
    _lifting(
        "decided against",
        "decision",
        "We're going with Postgres.",
        "We're not going with Postgres any more.",
        rf"\bwe(?:'re| are) (?:not|no longer) (?:going with|going for|using|doing|keeping"
        rf"|sticking with)\s{_WHAT}",
        rf"\bwe(?:'re| are) (?:dropping|abandoning|giving up on)\s{_WHAT}",
        rf"\b(?:we|i)(?:'ve| have)? decided against\s{_WHAT}",
        r"^no ([^,;]+) after all\b",
        rf"\b(?:we|i) (?:won't|will not) (?:use|go with|keep)\s{_WHAT}",
    ),
)

_HEARD = ("question", "guess or wish", "attribution", "someone's report")
# Not a lifting for good.
_CONDITION = re.compile(
    r"\b(?:if|unless|until|once|when|whenever|except|as soon as|as long as|provided|this time|for now|today"
    r"|maybe|perhaps"
    r"|might|(?:may|can|should) only|only (?:if|when|after|once|for|this|with)|for this (?:one|file|task))\b"
)
_OUTSIDE = re.compile(
    r"\b(?:outside|besides|other|others|else|elsewhere|beyond|apart|anything|also|too|as well)\b"
)
_BAN = re.compile(
    r"\b(?:never|not|no|without|avoid|refrain|off[- ]limits|frozen|forbidden|hands off|keep|leave|only|stop"
    r"|nothing|nobody|cannot)\b|n't\b"
)
_FORBIDS = re.compile(
    r"\b(?:never|not|no|without|off[- ]limits|frozen|forbidden|hands off|nothing|nobody|cannot)\b|n't\b|\bdont\b"
)
_NEGATED = re.compile(r"\b(?:nothing|none|not|never|neither|nobody)\b|n't\b")
_THING = re.compile(r"(?:^|[,;:]\s?|\b(?:and|with|please)\s)no\s")
_ONLY = re.compile(r"\bonly\b")
_ANEW = re.compile(
    r"\b(?:instead|after all|now|changed (?:my|our) minds?|second thoughts?|actually|again|rather|from now on)\b"
)
_OVER = re.compile(rf"\b(?:instead of|rather than|in place of)\s{_WHAT}")
_SCOPE = re.compile(
    r"\b(?:for|during|within|(?:in|on) (?:the|this|that|our|those))\s(?!now\b)([^,;]+?)(?=\sinstead\b|[,;]|$)"
)
_PARTS = re.compile(r"[,;]|\band\b|\bbut\b|:\s")


def taken_back(sentence: Sentence, pins: Sequence[Pin]) -> list[Pin]:
    """The pins that a sentence lifts without putting anything in their place."""
    heard = hush(sentence.heard, _HEARD)
    if not heard or _CONDITION.search(heard):
        return []
    spoken = plain(sentence.text)
    for lifting in LIFTS:
        if lifting.pattern.search(heard) is None:
            continue
        # The cue must be heard; what it names may stand in quotes or backticks.
        match = lifting.pattern.search(spoken) or lifting.pattern.search(heard)
        focus = " ".join(part for part in match.groups() if part) if match else ""
        named = [
            (names(said(focus), _parts(pin.text)), pin) for pin in pins if _can(lifting, focus, spoken, pin)
        ]
        if found := _best(named):
            return found
    return []


def replaced(sentence: Sentence, kind: str, pins: Sequence[Pin]) -> list[Pin]:
    """The pins that a sentence replaces, which is itself pinned as a `kind`."""
    spoken = plain(sentence.text)
    same = [pin for pin in pins if plain(pin.text) != spoken and len(_parts(pin.text)) == 1]
    if over := _OVER.search(spoken):
        focus, rest = said(over[1]), said(spoken[: over.start()])
        scope = said(" ".join(_SCOPE.findall(spoken))).all
        named = [
            (names(focus, (held,)), pin)
            for pin in same
            if not _FORBIDS.search(plain(pin.text))
            and not set(rest.strong) <= set((held := said(pin.text)).strong)
            and scope <= held.all
        ]
        if found := _best(named, rest):
            return found
    fitting = [(_anew(spoken, plain(pin.text), kind), pin) for pin in same if pin.kind == kind]
    return _best(fitting)


def _can(lifting: Lifting, focus: str, spoken: str, pin: Pin) -> bool:
    """Whether this kind of pin can be lifted in this way."""
    if _NEGATED.search(focus):
        return lifting.of == "any"
    if lifting.of == "any":
        return True
    if lifting.of == "decision" or pin.kind == "decision":
        return lifting.of == pin.kind
    text = plain(pin.text)
    if lifting.of == "duty":
        return not _FORBIDS.search(text)
    if lifting.of == "thing":
        return _THING.search(text) is not None or re.match(r"\W*\w+ing\b", focus) is not None
    if not _BAN.search(text) or (_OUTSIDE.search(spoken) is not None) < (_ONLY.search(text) is not None):
        return False
    if re.search(r"\b(?:outside|besides|beyond|other than|apart from)\b", spoken) and not _ONLY.search(text):
        return False
    return lifting.name != "you may" or said(focus).does & said(text).covers != frozenset()


def _anew(spoken: str, held: str, kind: str) -> int:
    """How well a sentence binds anew what another one bound: both give one thing another value."""
    new, old = values(spoken), values(held)
    cue = _ANEW.search(spoken) is not None
    mine, theirs = said(spoken), said(held)
    differ = [what for what in old if what in new and new[what] != old[what]]
    if differ:
        if kind == "decision" and not cue and not _OVER.search(spoken):
            return 0  # "We use Redis for sessions" leaves "We use Postgres" standing
        if any(len(new.get(what, ())) != 1 or len(old[what]) != 1 for what in old):
            return 0
        counted = all(what.startswith("number of ") for what in differ)
        if not counted and (_FORBIDS.search(spoken) or _FORBIDS.search(held)):
            return 0
        taken = {word for found in (*new.values(), *old.values()) for word in found}
        ours, others = set(mine.strong) - taken, set(theirs.strong) - taken
        if ours != others and not (cue and ours <= others):
            return 0
        if kind == "constraint" and not ours and mine.weak and theirs.weak and not mine.weak & theirs.weak:
            return 0
        return 500 + 10 * len(ours & others)
    if kind == "decision" and cue and mine.strong and theirs.strong and not _FORBIDS.search(spoken + held):
        ours, others = set(mine.strong), set(theirs.strong)
        shared = ours & others
        last = mine.strong[-1] == theirs.strong[-1]
        if last and ours != others and 2 * len(shared) >= max(len(ours), len(others)):
            return 100 * len(shared)
    return 0


def _best(named: Iterable[tuple[int, Pin]], beside: Likeness | None = None) -> list[Pin]:
    """The pin named best; none where two different ones are named equally well, all that say the same."""
    ranked = [
        ((score, len(set(beside.strong) & set(said(pin.text).strong)) if beside else 0), pin)
        for score, pin in named
        if score
    ]
    top = max((rank for rank, _ in ranked), default=None)
    best = [pin for rank, pin in ranked if rank == top]
    alike = {
        (pin.kind, frozenset(said(pin.text).all), _FORBIDS.search(plain(pin.text)) is None) for pin in best
    }
    return best if len(alike) == 1 else []


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[Likeness, ...]:
    """The rules of a pin one by one, where it has several: a sentence must name each to lift them all."""
    parts = [part for part in _split(text) if cue_in(part) is not None]
    return tuple(said(part) for part in parts) if len(parts) > 1 else (said(text),)


def _split(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        yield from (part.strip() for part in _PARTS.split(sentence.heard) if part.strip())
