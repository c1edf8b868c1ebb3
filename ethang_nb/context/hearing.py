"""Hearing: what of a sentence is an order, and which cue it follows.

"It always fails", "the docs say never", "if we must", "never mind": such phrases have the words of a rule and bind
nobody. They are data (DEAF), taken out before the cues are tried, so that the rest of the sentence is still heard.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from ethang_nb.context.cues import ASKED, CUES, Cue, beginnings

__all__ = ["DEAF", "Deaf", "cue_in", "hush"]


class Deaf(NamedTuple):
    """A phrase that is not heard, and a sentence that it keeps from being pinned. `whole`: nor is its sentence.

    What its pattern puts in a group is heard all the same.
    """

    name: str
    example: str
    whole: bool
    pattern: re.Pattern[str]


def _deaf(name: str, example: str, *ways: str) -> Deaf:
    return Deaf(name, example, whole=False, pattern=re.compile("|".join(ways)))


def _deaf_to_all(name: str, example: str, *ways: str) -> Deaf:
    return Deaf(name, example, whole=True, pattern=re.compile("|".join(ways)))


# Where a clause ends that is not heard: at a comma, or where an order begins.
_END = r"(?=[,;:]|\b(?:and|but)\s(?:please\s)?(?:never|do not|don'?t|only|make sure|keep|always|leave|avoid)\b|$)"
_PARTICIPLE = (
    r"(?:[a-z]+ed|been|gone|got|gotten|done|made|come|lost|broken|taken|run|hit|left|seen|forgotten"
    r"|written|sent|happened|had)"
)
_SAYS = (
    r"(?:says|said|stated|warns|warned|told|tells|claimed|writes|wrote|mentioned|suggests|suggested"
    r"|recommends|recommended|insists|insisted|complains|complained|thinks|thought|asked|argues"
    r"|requires that)"
)
_BUILD = r"^(?:please )?(?:add|implement|write|create|build) (?:an? )?[^,;:]{0,40}"

DEAF: tuple[Deaf, ...] = (
    _deaf_to_all(
        "question",
        "Should we always pin the versions?",
        r"\?[\s!?)\"'~.]*(?:[^\w\s]+\s*)?$",
        r"^(?:and |but |so |ok(?:ay)?,? |hey,? )?(?:why|how come|how (?:do|does|can|did|would|should)|who"
        r"|whose|what (?:if|would|must|should|do|does|is|are)|(?:should|shall|can|may|could) (?:i|we|it"
        r"|they|this)|(?:do|have) (?:i|we|they|you|these)|(?:does|did|is|are|was|were|has|would|will) (?:i"
        r"|we|it|they|you|he|she|there|the|this|that|these))\b",
    ),
    _deaf_to_all(
        "guess or wish",
        "Suppose you must never write to disk.",
        r"^(?:hm+,? |well,? )?(?:maybe|perhaps|possibly|suppose|imagine|assume|hypothetically|in theory"
        r"|i wish|ideally|not sure|say (?:we|you|i)\b)",
        r"\b(?:i guess|i suppose|i wonder|presumably)\b",
    ),
    _deaf_to_all("attribution", "According to the docs you must call init first.", r"^according to\b"),
    _deaf_to_all(
        "expected, but",
        "The total should be in EUR but it is in USD.",
        r"\bshould\b.*\b(?:but|yet|however)\b.*\b(?:it is|it's|is|isn't|does|doesn't|don't|fails?|breaks?"
        r"|i get|sometimes|are|was)\b",
    ),
    _deaf(
        "someone's report",
        "My boss said we should always use Java.",
        rf"\b(?!(?:i|we)\b)[\w'/.-]+ (?:\w+ )?{_SAYS}\b"
        r"(?<!i said)(?<!we said)(?<!i told)(?<!we told)(?<!i asked)(?<!second thought).*$",
        r"\b(?:it|he|she|they|(?:the|my|our|this|that|your|his|her) [\w'.-]+(?: [\w'.-]+)?) (?:states"
        r"|claims|mentions|asks)\b.*$",
        r"\b(?:docs|people|they|users|some|guides|comments|others|many|devs|customers|clients"
        r"|reviewers) (?:say|state|claim|think|want|recommend|ask|warn|complain|suggest)\b.*$",
    ),
    _deaf(
        "condition or reason",
        "If we never deployed, nobody would notice.",
        r"\b(?:if|unless|when|whenever|once|while|whereas|although|though|because|since|until|in case"
        r"|so that)\b.*?" + _END,
    ),
    _deaf(
        "relative clause",
        "Tell me which files you must change.",
        r"\b(?:what|which|who|whose|whom|where|how|whether|why)\b(?! ever).*?" + _END,
        r"\b(?:everything|anything|things?|obligations?|duties|steps|everyone|those|all) (?:that )?(?:the"
        r"|an?|we|you|they|i) "
        r"(?:\w+ )?(?:must|should|has to|have to|never|always)\b.*?" + _END,
        r"\b(?!(?:sure|ensure|is|means|so|make|note|remember|important|insist)\b)[\w'-]+ that (?:must"
        r"|never|always|should"
        r"|do not|don'?t|can only|only|has to|have to|\w+s? never|\w+s? always)\b.*?" + _END,
    ),
    _deaf(
        "something to build",
        "Write a function that must return a list.",
        _BUILD + r"\b(?:that|which|saying|where)\s.*?(?:(?=\bwithout\b)|" + _END + ")",
        _BUILD + r":\s(?:the|an?|each|every|all|it)\b[^,;]*",
    ),
    _deaf(
        "what a text is asked for",
        "Extract every obligation the tenant must fulfil.",
        r"^((?:please |now |then |and )*(?:extract|list|find|count|show|explain|describe|check|compare"
        r"|identify|collect|highlight|search|look|translate|tell|summari[sz]e|name|discuss|give me|read"
        r"|write (?:an?|the|some) (?:\w+ )?(?:story|poem|song|essay|joke"
        r"|letter))\b[^,;:]*?)(?<!and )(?<!but )(?<!then )\b(?:must|should|shall|never|always|has to"
        r"|have to|may only|can only|cannot|can't"
        r"|do not|don't)\b.*?" + _END,
    ),
    _deaf(
        "a tale",
        "They come in at night and never leave a trace.",
        r"^(?:i|we|they|he|she|it|the|this|that|these|those|my|our|some|all|most) [^,;:]*?\b(?:and|or"
        r"|but) (?:then )?(?:never|don'?t|do not)\b[^,;]*",
        r"\b(?:and|but|or) (?:never|don'?t|do not) (?:pass|finish|work|exist|match|load|appear|return|end"
        r"|stop|fail|start|compile|help|complete|converge|respond|succeed|terminate|happen|fit|agree"
        r"|show up)(?:e?s)?(?=[.,;!]|$|\s(?:on|in|at|for|with|again|properly|correctly|either)\b)",
        r"\b(?:this|that|it) should only (?:take|be|need|happen|affect)\b",
        r"\b(?:my|the|our) (?:account|key|user|token|ip|request|browser) (?:is|are)(?: not|n't) (?:allowed"
        r"|permitted)\b",
    ),
    _deaf(
        "never mind",
        "Never mind.",
        r"\b(?:never ?mind|never say never|better late than never|never again(?=[.,;!]|$))",
    ),
    _deaf(
        "don't worry",
        "Don't worry about the style.",
        r"\b(?:do not|don'?t) (?:you )?(?:know|think|mind|worry|see|understand|care|get me|get it|hesitate"
        r"|need|have|bother|feel|want to (?:be|sound|bother|interrupt|rush)|believe|like|panic|hold back"
        r"|give up|exist|seem|be (?:shy|afraid|surprised|sorry|silly|mad|scared)|tell me (?:it|you|that"
        r"|this)|ask\b(?! \w)|work\b(?! on))\b",
    ),
    _deaf("I must", "I must admit I like it.", r"\bi (?:must|have to|need to)\b.*?" + _END),
    _deaf(
        "it must be so",
        "It must be a race condition.",
        r"\b(?:he|she) must be\b|\byou must (?:see|try|hear|watch|admit|know|think|understand|feel)\b",
        r"\bthere must be (?:an?|some\w*|another|more)\b",
        r"\b(?:it|this|that|he|she|they|you|these|those) must be (?:an?|the|some\w*|because|why|wrong"
        r"|broken|missing|joking|kidding|tired|right|due|caused|related|how|what|nice|hard|there|new|fun"
        r"|mistaken|crazy|great|easy|busy|my|your)\b",
        r"\bmust be (?:confused|stuck|mistaken|mixed up|corrupt(?:ed)?|overloaded|outdated|misconfigured"
        r"|off|down|too|kidding|joking)\b",
        rf"\b(?:must|should)(?: not| never|n't)?(?: have|'ve) {_PARTICIPLE}\b",
        r"\b(?:it|this|that|he|she|they|you|someone|something) must(?: not)? have (?!(?:an?|at|no|the|one"
        r"|two|\d)\b)",
        r"\b(?:bug|problem|issue|error|cause|reason|mistake|fault|leak|culprit|crash|failure)s? must be\b",
        r"\b(?:that|this|it) must (?:hurt|feel|mean|look|seem|come|suck|cost)\b",
        r"\bmust (?:seem|feel|sound|look (?:odd|strange|weird|nice|great|bad|silly|new|funny))\b",
    ),
    _deaf(
        "always the same", "Always the same error here.", r"\balways (?:the|an?|been|so|this|that|welcome)\b"
    ),
    _deaf(
        "no longer",
        "The cap no longer has to be in EUR.",
        r"\bno longer\b.*?" + _END,
        r"\b(?:do not|don'?t|does not|doesn'?t|need not|needn'?t) (?:have|need) to\b.*?" + _END,
    ),
    _deaf(
        "taking back",
        "Forget the rule: never open document 17.",
        r"(?:^|[,;] ?|\b(?:please|ok|so|now|just) )(?:forget|ignore|disregard|scrap|scratch)\b.*?(?=[,;]|$)",
    ),
)

_CUES_OF: dict[str, list[int]] = {}
for _number, _cue in enumerate(CUES):
    for _word in _cue.words:
        _CUES_OF.setdefault(_word, []).append(_number)

_POLITE = re.compile(
    r"^(?:hey,? |hi,? |please )?(?:can|could|would|will) you\b.*?(?=[,;]|\b(?:but|and|without)\b)"
)


def cue_in(heard: str) -> Cue | None:
    """The first cue that a sentence follows, as it is heard."""
    words = [word for word in _CUES_OF if word in heard]
    if not words:
        return None
    wanted = {number for word in words for number in _CUES_OF[word]}
    if heard.rstrip("!").endswith("?") and (polite := _POLITE.match(heard)):
        # "Can you fix it, but don't touch the tests?" asks for one thing and forbids another.
        heard = "do ~ " + heard[polite.end() :].rstrip("?! ")
        wanted = {number for number in wanted if CUES[number].name in ASKED}
    # Most sentences follow no cue at all, so that is asked first: what is not heard can only take a cue away.
    wanted = _followed(heard, wanted)
    if wanted:
        wanted = _followed(hush(heard), wanted)
    return CUES[min(wanted)] if wanted else None


def _followed(heard: str, wanted: Collection[int]) -> set[int]:
    begins = beginnings(heard)
    return {number for number in wanted if CUES[number].found_in(heard, begins)}


def hush(heard: str, only: Collection[str] = ()) -> str:
    """`heard` without the phrases of DEAF (all, or those named), "" where the whole sentence binds nobody."""
    for deaf in DEAF:
        if only and deaf.name not in only:
            continue
        if deaf.whole:
            if deaf.pattern.search(heard):
                return ""
        else:
            heard = deaf.pattern.sub(r"\1 ~ " if deaf.pattern.groups else " ~ ", heard)
    return " ".join(heard.split())
