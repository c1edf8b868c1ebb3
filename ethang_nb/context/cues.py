"""Cues: the rules by which a sentence is a constraint or a decision. Data.

A rule is tried on a sentence as it is heard: lower case, straight apostrophes, quotations and code blotted out,
and without what only sounds like a rule (`hearing`). The rules are English; a sentence in another language is
not pinned unless it borrows English words, and is pinned by hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

__all__ = ["ASKED", "CUES", "Cue", "beginnings"]

Kind = Literal["constraint", "decision"]


class Cue(NamedTuple):
    """A rule that makes a sentence a pin.

    `name` is shown to people, `why` says what it rests on. `pins` is a sentence that it pins, `passes` one that no
    rule pins. One of `words` stands in every sentence that can match, so that most are passed over quickly.
    `orders` is tried only where a command can begin, `tells` everywhere.
    """

    name: str
    kind: Kind
    why: str
    pins: str
    passes: str
    words: tuple[str, ...]
    orders: re.Pattern[str] | None
    tells: re.Pattern[str] | None

    def found_in(self, heard: str, begins: Collection[int]) -> bool:
        """Whether a sentence follows this rule; `begins` are the places where a command can begin in it."""
        if self.tells and self.tells.search(heard):
            return True
        return self.orders is not None and any(self.orders.match(heard, at) for at in begins)


_NOW = "(?#now)"  # begins a pattern that is tried only where a command can begin


def _cue(name: str, kind: Kind, why: str, pins: str, passes: str, words: str, *ways: str) -> Cue:
    orders = "|".join(way for way in ways if way.startswith(_NOW))
    tells = "|".join(way for way in ways if not way.startswith(_NOW))
    return Cue(
        name,
        kind,
        why,
        pins,
        passes,
        tuple(words.split("|")),
        re.compile(orders) if orders else None,
        re.compile(tells) if tells else None,
    )


_LEAD = (
    r"(?:please|pls|plz|also|just|and|but|or|so|then|now|plus|still|ok|okay|yes|simply|kindly|remember"
    r"|(?:i|we) said|(?:i|we)(?: want|'d like| would like| need| expect| told| asked) you to)"
)
_BEGINNING = re.compile(rf"[,;:(~]\s?|(?:^|\s)[-–—]+\s|\b{_LEAD}\s")


def beginnings(heard: str) -> list[int]:
    """Where a command can begin: at the start, after a comma or colon, after `and`, `please` and their like.

    So "it never stops" tells and "never stop it" orders.
    """
    return [0, *(match.end() for match in _BEGINNING.finditer(heard))]


# A verb as a command has it: "never opens" and "never opened" tell, they do not order.
_NO_VERB = (
    "was|were|had|has|did|does|is|got|came|went|saw|seen|been|thought|knew|heard|made|took|gave|found|said|told|ran"
    "|broke|meant|felt|again|gonna|once|have i|a|an|the|in my|mind|so|this|that|wrong|true|late|and|or|but|of|from"
    "|happy|glad|nice|good|great|better|possible|available|fun|easy|hard|interesting|there|here"
)
_VERB = (
    rf"(?:(?:access|process|pass|discuss|express|guess|miss|cross|press|bypass|address|compress|suppress"
    rf"|dismiss|embed|feed|exceed|proceed|need)\b|(?!(?:{_NO_VERB})\b)(?![a-z]+(?:ed|[^su]s)\b)[a-z]+)"
)
_DO = (
    "add|build|change|check|clean|complete|convert|continue|create|debug|design|do|extend|extract|find|finish|fix"
    "|get|implement|improve|make|merge|migrate|move|optimi[sz]e|port|proceed|read|refactor|remove|rename|replace"
    "|report|rewrite|run|set|simplify|solve|speed|split|summari[sz]e|test|translate|try|update|upgrade|work|write"
    "|answer|explain|go|repair|restructure|reduce|tidy"
)
_NUMBER = r"(?:[€$£]\s?)?(?:\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|half|a dozen|an? (?:single|hour))\b)"
_BOUND = r"(?:at most|not? more than|at least|no longer than|less than|fewer than|up to|max\.?|a maximum of)"
_UNIT = r"(?:words?|lines?|pages?|sentences?|minutes|hours|seconds|characters|tokens|paragraphs?|files|%|€|euros?)"
_FORM = (
    r"(?:eur|usd|gbp|chf|jpy|euros?|dollars?|pounds|francs|english|german|french|spanish|italian"
    r"|portuguese|dutch|polish|chinese|japanese|british english|american english|json|jsonl|yaml|toml|csv"
    r"|markdown|html|xml|latex|plain text|plain english|utc|iso(?: ?8601)?|metric(?: units)?"
    r"|imperial units|celsius|fahrenheit|kelvin|kilomet(?:er|re)s|km|miles|lower ?case|upper ?case"
    r"|bullet points|percent|milliseconds|tokens)"
)
_LANGUAGE = (
    r"(?:python|rust|go|typescript|javascript|java|kotlin|c\+\+|c#|ruby|swift|scala|sql|bash|haskell|php)"
)
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|noon|eod|the end of|\d)"
_WORK = (
    r"(?:reports?|summary|summaries|answers?|output|tone|style|text|letters?|mails?|code|functions?"
    r"|tables?|titles?|translations?|results?|names?|response|document|essay|paper|slides?|comments?"
    r"|tests?|messages?|paragraphs?)"
)
_CHANGED = r"(?:changed|renamed|removed|modified|touched|edited)"
_MORE = r"(?:longer|more|shorter|less|larger|bigger|later|over|above)"

CUES: tuple[Cue, ...] = (
    _cue(
        "marked constraint",
        "constraint",
        "the owner says himself that it is one",
        "Constraint: report amounts in EUR.",
        "The constraint solver fails.",
        "constraint|rule|important|requirement|restriction",
        r"^(?:(?:hard|one|another|new|additional|my|ground|important) )*(?:constraint|rule|requirement"
        r"|restriction)s?(?: \w{1,3})?\s?:\s*(?!none\b|n/a\b|nothing\b)\S",
        r"^(?:very )?important\s?:\s*\S",
    ),
    _cue(
        "marked decision",
        "decision",
        "the owner says himself that it is one",
        "Decision: ship on Friday.",
        "A decision is still missing.",
        "deci|agreed|verdict|settled",
        r"^(?:ok(?:ay)?,? |so,? )?(?:(?:final|the|my|our|new) )*(?:decision|decided|agreed|verdict)\s?(?::"
        r"|\s[-–—])\s*\S",
        r"^(?:decision made|(?:it's|it is|that's) (?:settled|decided))\s?[:,–—-]\s*\S",
        r"^agreed, (?:we|i|let's)\b",
    ),
    _cue(
        "never + verb",
        "constraint",
        "seed 003: a constraint arrives as chat and has to survive everything",
        "Never open contract_17.txt.",
        "She never answers my mails.",
        "never",
        rf"{_NOW}(?:you )?(?:(?:must|should|shall|may|can|will) )?never,? (?:(?:ever|again),? )?{_VERB}",
        r"\b(?:must|should|shall|may) never\b",
    ),
    _cue(
        "do not + verb",
        "constraint",
        "seed 003: “Don't touch migrations/”",
        "Don't touch migrations/",
        "I don't know where it is.",
        "not|n't|dont|cant",
        rf"{_NOW}(?:do not|don'?t)(?: you| ever| even| just)? {_VERB}",
        rf"\blet's not {_VERB}",
        rf"\b(?:must not|mustn'?t|shall not) {_VERB}",
        r"\b(?:are|is) not to be\b",
        r"\byou (?:are not to|may not)\b",
        r"\b(?:you|we) (?:can'?t|cannot|can not) (?:use|change|touch|break|modify|edit|add|install|delete"
        r"|drop|rename|remove|exceed|spend|ship|upgrade|move|lose|rely|depend|push|commit)\b",
        rf"\b(?:can'?t|cannot|can not|may not) (?:exceed|be (?:{_MORE}|{_CHANGED}))\b",
    ),
    _cue(
        "should not + verb",
        "constraint",
        "a wish said politely binds as well",
        "The summary should not exceed one page.",
        "That should not happen.",
        "should|nobody|no one|nothing|only|need",
        rf"\b(?:should not|shouldn'?t) (?:be (?:{_MORE}|{_CHANGED}|used|in)|change|touch|exceed|contain"
        rf"|include|use|depend|require|mention|open|add|edit|modify|delete)\b",
        r"\bshould (?:only|stay|remain) \w",
        r"\bshould be (?:at most|under|below|less than|no (?:more|longer)|within) ",
        rf"\bshould be (?:in|as) {_FORM}\b",
        rf"\b{_WORK} should (?:have|use|follow|contain|include|fit|keep|start|end|cover|be (?!(?:in|at|on"
        rf"|there|here|under|ready"
        r"|fine|ok|okay|done|easy|enough|good|correct|right|the|an?|\d+)\b))",
        r"\bonly [^,;]{1,40} (?:may|should|is allowed to)\b",
        r"\b(?:every|each|all) [\w ]{1,30} (?:should \w|needs? an? (?!lot\b|while\b|bit\b))",
        r"\bshould (?:run|work) (?:without|offline|on)\b",
        r"\b(?:nobody|no one|nothing)\b[^,;]{0,40}\b(?:may|must|should|shall|is allowed to)\b",
    ),
    _cue(
        "must or always",
        "constraint",
        "an obligation in its plainest words",
        "You must keep the old names.",
        "It must be a race condition.",
        "must|always|should|shall|is to|are to|without|cite|justify|mandatory|obligatory|compulsory|non-negotiable"
        "|everywhere|throughout|every time|exception|consistently",
        rf"\bmust (?!(?:in|on|at|by|to|with) )(?:(?:always|only|also|still|all) )?{_VERB}",
        rf"{_NOW}(?:you (?:should|shall) )?always {_VERB}",
        r"\b(?:should|shall) always\b",
        r"\b(?:is|are) to (?:be|stay|remain|have|use) \w",
        r"\bwithout (?:my|our|explicit|prior) (?:ok|okay|approval|consent|permission|say-so|go-ahead)\b",
        rf"{_NOW}(?:cite|justify) (?:every|each|all)\b",
        r"\b(?:is|are) (?:a must|mandatory|obligatory|compulsory|non-negotiable)\b",
        r", (?:always|everywhere|every time|without exception)[.!]*$",
        r"^(?:use|write|name|format|round|put|prefix|sort|label|mark|spell|apply)\b[^;]*\b(?:everywhere"
        r"|throughout|every time|consistently)[.!]*$",
    ),
    _cue(
        "has to stay",
        "constraint",
        "an obligation that speaks of a state, not of a task",
        "The file has to stay valid JSON.",
        "The tests need to be fixed.",
        "has to|have to|needs to|need to",
        r"\b(?:has|have|needs?) to (?:(?:stay|remain) (?!late|here|home|calm|awake)|(?:fit|work|run|pass"
        r"|compile|support|match|follow|use|respect|contain|include)\b)",
        r"\b(?:has|have|needs?) to be [a-z]+ble\b",
        r"\b(?:has|have|needs?) to (?:be|keep) (?:under|at most|at least|less|below|in|within|valid"
        r"|compatible|backwards?|readable|unchanged|the same|private|working)\b",
    ),
    _cue(
        "only",
        "constraint",
        "a limit of what may be used or changed",
        "Use only the stdlib",
        "Only two tests fail now.",
        "only|nothing|solely",
        rf"{_NOW}only (?:use|read|edit|change|touch|modify|look|open|write|answer|report|run|install|work"
        rf"|commit|push|add|consider|return|output|reply|respond|include|list|fix|search|call|print|cite"
        rf"|quote|delete|make|create|import|keep|take|rely|update|send|check|refactor|move|rename)\b",
        rf"{_NOW}(?:use|read|edit|change|touch|modify|answer|report|write|work|install|commit|rely|return"
        rf"|reply|respond|search|open|cite)(?: \w+){{0,2}} (?:only|nothing but|solely)\b",
        rf"{_NOW}(?:use|read|edit|change|touch|modify|answer|report|write|work|install|commit|make|do|keep"
        rf"|put|run|test|quote|cite|search|look)\b[^,;]{{1,60}}\bonly[.!]*$",
        rf"{_NOW}(?:{_DO})\b[^;]*\bnothing (?:else|more)[.!]*$",
        r"\byou (?:may|can|should) only\b",
        r"\byou(?:'re| are) only (?:allowed|permitted|supposed) to\b",
        r"^(?!(?:it|that|this|there|i|one|for|the|two|three|not"
        r"|if)\b)[\w./+#-]+(?: [\w./+#-]+){0,3} only(?: please)?[.!]*$",
    ),
    _cue(
        "limit",
        "constraint",
        "a number that must not be passed",
        "Limit the report to 300 words.",
        "It took at most 5 minutes.",
        "most|than|least|up to|max|under|below|within|in |limit|cap|restrict| per ",
        rf"{_NOW}(?:limit|cap|restrict) (?:[^,;]{{1,60}} )?to\b",
        r"\bcapped at\b",
        rf"{_NOW}(?:keep|stay|answer|reply|respond|write|use|spend|take|make|give|hold|finish|summari[sz]e"
        rf"|describe|explain|read|open|ask|call|change|touch)\b[^;]{{0,80}}\b{_BOUND} (?:of )?{_NUMBER}",
        rf"{_NOW}(?:keep|stay|answer|reply|respond|write|spend|hold|finish"
        rf"|summari[sz]e)\b[^;]{{0,80}}\b(?:under|below|within|in) {_NUMBER}[\d.,]*\s?{_UNIT}",
        rf"{_NOW}(?:quote|cite|list|include|show|mention)\b[^;]{{0,60}}\b{_BOUND} (?:of )?{_NUMBER}",
        rf"^(?:max(?:imum)?\.?|at most|not? more than"
        rf"|no longer than)\s+(?:of )?{_NUMBER}(?!.*\b(?:fail(?:ed)?|took|was|were|are|is|passed|found)\b)",
        r"\b\d[\d.,]* ?\w+ max(?:imum)?(?:,? please)?[.!]*$",
        r"^(?:only )?(?:one|two|three|\d+) [\w ]{1,30} per \w+[.!]*$",
        rf"^(?:no|nothing)\b(?! (?:more|less) than).{{1,40}}\b(?:older|newer|earlier|{_MORE}) than\b",
    ),
    _cue(
        "budget or deadline",
        "constraint",
        "money and time that the work may take",
        "Budget is 500 euros at most",
        "What is the budget?",
        "budget|deadline|limit|have|by ",
        r"\b(?:budget|deadline|(?:time|word|page|spending|token) limit)(?: for [\w ]{1,30}?)?\s?(?:is"
        r"|stays|remains|of|:|=)(?! (?:over|gone|past|tight|tiny|unclear|unknown)\b)\s*\S",
        r"\b(?:i|we) (?:only|just) have (?:[€$£]\s?)?\d",
        rf"\b(?:has|have|needs?) to be (?:\w+ ){{1,3}}by {_DAY}",
        rf"\b(?:need|due|finish(?:ed)?|deliver|ready|done|submit|hand (?:it )?in)\b[^;]{{0,40}}\bby {_DAY}",
    ),
    _cue(
        "keep or leave",
        "constraint",
        "what must stay as it is",
        "Keep the public API unchanged.",
        "Keep up the good work!",
        "keep|leave|hands off|stay|preserve|maintain|retain|match|confidential|secret|private|sacrosanct|mask|anonymi"
        "|redact",
        rf"{_NOW}keep (?!(?:going|up|on|at|me|us|in mind|an eye|calm|track|trying|(?:it|them|that"
        rf"|this) (?:up|\w+ing)|the (?:change|good|\w+ (?:up|coming|going))\b|this conversation|you|\w+ing"
        rf"|in touch)\b)\S",
        rf"{_NOW}leave (?!(?:it to|that to|me|for|work|a comment)\b)[^,;]{{1,80}}\b(?:alone|untouched"
        rf"|unchanged|as|in|intact|out|open|there|where)\b",
        rf"{_NOW}leave out\b",
        rf"{_NOW}(?:preserve|maintain|retain) \S",
        rf"{_NOW}match (?:the|our|existing)\b[^,;]{{0,40}}\b(?:style|format|tone|layout|naming|conventions?)\b",
        r"\b(?:is|are|stays?) (?:strictly )?(?:confidential|secret|private|sacrosanct)[.!]*$",
        rf"{_NOW}(?:mask|anonymi[sz]e|redact) \S",
        r"\bhands off\b",
        r"\bstays? (?:as (?:it is|is|they are)|untouched|put)\b",
    ),
    _cue(
        "no + thing",
        "constraint",
        "a thing that must not come in",
        "No new dependencies",
        "No tests were found.",
        "no ",
        r"(?:^|[,;:(]\s?|[-–—]+\s|\b(?:and|but|with|also|please|absolutely|strictly|there (?:must"
        r"|should) be)\s)no (?:(?:new|more|other|external|extra|additional|passive|paid|proprietary"
        r"|commercial|nested|magic|bare|unsafe|personal|private|real|third[- ]party|breaking|further"
        r"|unnecessary|global|hard-?coded|direct|manual|public|raw|inline|network|internet|api|print"
        r"|dynamic)\s(?!than\b|idea|luck|info|error|failure|problem|issue|warning|question|result|bug"
        r"|comments? from|news)[a-z]|(?:dependenc|comments\b(?!.*\bfrom\b)|emojis?|mocks?\b|mocking"
        r"|refactoring|placeholders?|todos?\b|shortcuts|hacks|jargon|markdown|tables|abbreviations"
        r"|downtime|guess|network|internet|side[- ]effects|globals|regressions?\b|force[- ]push|deletions?"
        r"|commits?\b|pushe?s?\b|edits))(?!.*\b(?:found|failed|so far|yet|needed|necessary|were|was)\b)",
        r"\S, no exceptions\b",
        r"^(?:and |but |please )?no (?!(?:problems|worries|thanks|doubts|errors|issues|results|tests"
        r"|matches|failures|differences|complaints|questions|objections|surprises|regrets|changes|updates"
        r"|news|ideas|clues|plans|hits|entries|files|items|rows|warnings|bugs|this|less|yes|access|success"
        r"|progress|process)\b)[a-z-]+s(?:,? please)?[.!]*$",
    ),
    _cue(
        "stick to",
        "constraint",
        "a way that must not be left",
        "Stick to Python 3.11",
        "The labels stick to the wall.",
        "stick to|stick with|keep to|stay |adhere|comply|follow|confine|restrict|respect|obey",
        rf"{_NOW}(?:stick (?:to|with)|adhere to|comply with|confine yourself|restrict yourself)\b",
        rf"{_NOW}stay (?:in|inside|within|under|below|on|with|off|out|away|compatible|close)\b",
        rf"{_NOW}(?:follow|respect|obey) (?:pep|(?:the |our |my |these |all )?[^,;]{{0,40}}\b(?:styles?"
        rf"|guides?|guidelines|conventions?|rules?|standards?|format|naming|template|limits?|schema))\b",
    ),
    _cue(
        "avoid",
        "constraint",
        "a thing that must not be done",
        "Avoid global variables.",
        "To avoid the crash I restarted the kernel.",
        "avoid|refrain|steer clear|keep away|stop |exclude|omit",
        rf"{_NOW}(?:try to )?(?:avoid|refrain from|steer clear of|keep away from|exclude|omit)\s\S",
        rf"{_NOW}stop \w+ing\b",
    ),
    _cue(
        "without + doing",
        "constraint",
        "a limit of how the task may be done",
        "Fix the bug without changing the schema.",
        "It works without changing anything.",
        "without|not|except|excluding|apart from|other than",
        rf"{_NOW}(?:{_DO})\b[^;]*\bwithout (?:ever )?(?:(?:chang|touch|break|modify|alter|us|add|introduc"
        rf"|install|remov|delet|renam|edit|open|read|ask|call|import|rewrit|increas|exceed|los|mov|push"
        rf"|committ|mock|writ|download|reformat|restart)ing\b|(?:any |a )?(?:new|external|extra|additional"
        rf"|third-party|changes to|network|downtime|side[- ]effects|data loss|regressions|jargon|loops"
        rf"|recursion|comments|mocks|markdown|emojis|abbreviations|internet)\b)",
        rf"{_NOW}(?:{_DO})\b[^;]*\b(?:but|and) not (?:the|in|on|to|for|any|anything|those|these)\s\S",
        rf"{_NOW}(?:{_DO})\b[^;]*\b(?:except|excluding|apart from|other than)\s\S",
        r"^without \w+ing [^;]*,",
    ),
    _cue(
        "from now on",
        "constraint",
        "it speaks of all work to come",
        "From now on answer in German.",
        "From then on it failed.",
        "from now on|from here on|going forward|for the rest of|henceforth|until further notice|at all times",
        r"\bfrom (?:now|here) on(?:wards?)?\b(?!,? (?:it|it's|this|that|he|she|they)\b)",
        r"^going forward\b(?! is\b)|\bhenceforth\b|\buntil further notice\b|\bat all times\b",
        r"\bfor the rest of (?:this|the|our) (?:session|conversation|chat|project|task|run)\b",
    ),
    _cue(
        "make sure",
        "constraint",
        "an obligation beside the task",
        "Make sure to run the tests before you finish.",
        "I made sure the server runs.",
        "make sure|ensure|be sure|take care|careful|remember|n't forget|dont forget|see to it|important|crucial"
        "|essential|critical|vital",
        rf"{_NOW}(?:always )?(?:make sure|ensure|be sure|take care|be careful|remember"
        rf"|don'?t forget) (?:not )?(?:to|that|the|all|every|any|each|no|nothing|you|we|it|they|there|our"
        rf"|my|your|with)\b",
        rf"{_NOW}(?:make sure|ensure) (?!is\b)\w",
        rf"{_NOW}see to it that\b",
        rf"{_NOW}(?:be )?careful (?:with|about|not)\b",
        r"\bit(?:'s| is) (?:very |really |absolutely )?(?:important|crucial|essential|critical"
        r"|vital) (?:that|to (?!me\b))",
    ),
    _cue(
        "under no circumstances",
        "constraint",
        "the strongest words there are for it",
        "Under no circumstances may you email the client.",
        "In this case there is no account.",
        "circumstance|no case|no account|no condition",
        r"\b(?:under|in|on) no (?:circumstances?|case|account|conditions?)\b",
        r"\b(?:not|never|don't),? under any circumstances?\b",
    ),
    _cue(
        "not allowed",
        "constraint",
        "a ban in the third person",
        "migrations/ is off limits.",
        "The screen is frozen.",
        "allowed|permitted|off limits|off-limits|forbidden|prohibited|taboo|out of scope|frozen|treat ",
        r"\b(?:is|are|'re) (?:not|never) (?:allowed|permitted)\b|\b(?:isn't|aren't) (?:allowed|permitted)\b",
        r"(?:\b(?:is|are|stays?)|'s) (?:strictly |absolutely )?(?:off[- ]limits|forbidden (?:to|for)"
        r"|prohibited|taboo|out of scope)\b",
        r"(?<!access)(?<!request)(?<!page) (?:is|are) (?:strictly |absolutely )?forbidden[.!]*$",
        r"\b(?:api|schema|interfaces?|files?|branch|version|release|format|names?) (?:is|are|stays?) frozen\b",
        rf"{_NOW}treat [^,;]{{1,60}} as (?:read-only|binding|final|given|frozen|off[- ]limits|confidential)\b",
    ),
    _cue(
        "ask first",
        "constraint",
        "a step that must come before another",
        "Ask me before you delete anything.",
        "I asked him before the meeting.",
        "ask|check with|wait|confirm|tell|warn|before every|before each|before any|after every|after "
        "each|after any|only",
        rf"{_NOW}(?:always )?(?:ask|check with|wait for|confirm with|tell"
        rf"|warn)\b[^;]{{0,50}}(?:\bbefore (?:you|any|every|each|the|we|a|\w+ing)\b|\bfirst[.!]*$)",
        rf"{_NOW}wait (?:for my\b|~|until\b)",
        rf"{_NOW}(?:stop and )?ask(?: me)?(?: (?:~|if\b[^,;]*|when\b[^,;]*))?[.!]*$",
        rf"{_NOW}(?:run|commit|test|save|update|format|ask|show|report|stop|check|use"
        rf"|push)\b[^;]{{0,50}}\b(?:before|after) (?:every|each|any)\b",
        r"\bonly (?:after|when|once|if) i\b(?!.*\bhave time)",
    ),
    _cue(
        "form of the answer",
        "constraint",
        "a unit, language or format for what comes back",
        "Report the cap in EUR",
        "Show me the amounts in the table.",
        "in |as |use |please|target|format|language|currency|unit|style|tone|length|be ",
        rf"{_NOW}(?:report|answer|reply|respond|write|give|show|state|express|print|return|output|quote"
        rf"|list|present|speak|talk|comment|document|name|summari[sz]e|format|put"
        rf"|keep)\b[^,;]{{0,60}}\b(?:in|as) {_FORM}\b",
        rf"^(?:all|every|any) [\w ]{{1,40}} (?:in|as) {_FORM}\b",
        rf"^(?:and |but )?in {_FORM}(?:,? please)?[.!]*$",
        rf"^(?!(?:the|it|they|this|that|is|are|was|i|we|you|he|she|what|which|there)\b)(?!.*\b(?:is|are"
        rf"|was|were|has|had)\b)[\w-]+(?: [\w-]+){{0,3}} (?:in|as) {_FORM}(?:,? please)?[.!]*$",
        r"^(?:short|brief|concise|formal|simple|plain|precise)(?: \w+){1,2},? please[.!]*$",
        rf"{_NOW}target \w+ v?\d",
        rf"\b(?:i|we)(?: need| want| expect|'d like| would like) (?:all|every|each|the|your|my|it|them"
        rf"|this|that)\b[^,;]{{0,50}}\b(?:in|as) {_FORM}\b",
        rf"{_NOW}use (?:metric|imperial|british|american|tabs?|spaces|snake_?case|camel_?case|iso)\b",
        r"^(?:(?:output|answer|report|file|date|number) )?(?:format|language|currency|units?|style|tone"
        r"|length)\s?:\s*\S",
        rf"{_NOW}(?:always )?be (?:concise|brief|strict|formal|polite|terse)\b",
        rf"{_NOW}(?:write|do|build|implement|code) (?:it|this|everything|all|that|them) in {_LANGUAGE}(?!\w)",
    ),
    _cue(
        "prefer",
        "constraint",
        "a preference told to the agent is an order",
        "I don't want any new dependencies.",
        "I want to see the plan.",
        "prefer|rather|want|nothing",
        rf"{_NOW}prefer \S",
        r"\bi(?:'d| would) (?:rather|prefer)(?: it)?(?: if| that)? (?:you|not)\b",
        r"\b(?:i|we) (?:do not|don'?t) want (?:you to|any|new|to (?:change|touch|break|add|lose|pay|spend"
        r"|see any))\b",
        rf"{_NOW}(?:change|touch|edit|modify|delete|install|add|open|rename) nothing\b",
    ),
    _cue(
        "we decided",
        "decision",
        "seed 003: losing it reopens the argument twenty steps later",
        "We decided to keep the cache.",
        "We haven't decided yet.",
        "decided|chose|choose|agreed|settle|opt|picked",
        r"\b(?:we|i)(?:'ve| have)?(?: now| finally| already| all)? (?:decided|chose|chosen|agreed"
        r"|settled on|opted|picked)\b(?! (?:nothing|with|not yet|up|badly|wrong|to (?:take a|go (?:home|to"
        r"|out|on)|wait|sleep|have a))\b)",
        r"\b(?:we|i) (?:choose|opt for|settle on) \S",
    ),
    _cue(
        "we will use",
        "decision",
        "seed 003: “We're going with Postgres.”",
        "We're going with Postgres.",
        "It's going with the wrong encoding.",
        "we|i'm|i am|i'll|i will|i'd|i would|i want|i think|going with",
        r"\bwe(?:'re| are)(?: now| all| definitely| just)? (?:going with|sticking (?:with|to)|switching to"
        r"|moving to|staying with|adopting|standardi[sz]ing on|dropping)\b",
        r"\bwe(?:'re| are) going for (?:the|an?|option|plan)\b(?! (?:walk|run|drink|coffee|break|beer|ride))",
        r"^we(?:'re| are) using [\w.+#-]+(?: [\w.+#-]+){0,2}[.!]*$",
        r"\bwe(?:'re| are) using\b[^,;]*\b(?:for|as|throughout|everywhere|from now on|instead)\b",
        r"\bwe(?:'ll| will)(?: just| all)? (?:use|go for|stick to|keep (?!you\b|in\b|an\b)|stay with|adopt"
        r"|target)\b",
        r"\b(?:we|i)(?:'ll| will|'d| would)? (?:just )?(?:go|stick) with (?!you\b|me\b|him\b|her\b|them\b)",
        r"\bi(?:'m| am) (?:going|sticking) with\b",
        r"\bi(?: want to|'d like to| would like to| think we should) (?:go|stick) with\b",
        r"^going with (?!the flow)\S",
    ),
    _cue(
        "let's use",
        "decision",
        "a proposal of the owner's is a decision for the agent",
        "Let's use SQLite for the prototype.",
        "Let's look at the logs first.",
        "let's|lets|let us",
        r"\b(?:let's|lets|let us) (?:just |definitely |all )?(?:use (?!this example|an example)|go with"
        r"|go for|stick with|stick to|stay with|keep(?! (?:going|in mind|an eye|at|it up|trying))|adopt"
        r"|settle on|switch to|target|drop (?!it\b|by\b)|skip (?!to\b|ahead)|avoid|leave (?!it\b)"
        r"|pick (?!up\b)|choose|base|standardi[sz]e on|do (?:(?:it (?:with|in)|option|plan|version"
        r"|variant)\b|[a-z\d][.!]*$))",
    ),
    _cue(
        "go with",
        "decision",
        "one of several ways is chosen",
        "Go with option B.",
        "It's a go with the board.",
        "go with|go for|option|plan|variant|version|choose|pick|take|vote|prefer|please",
        rf"{_NOW}go (?:with|for) (?!it\b|me\b|the flow|us\b|you\b)\S",
        r"\bi(?:'ll)? (?:choose|pick|take|vote for) (?:option|plan|variant|version|the (?:first|second"
        r"|third|last))\b",
        rf"{_NOW}(?:take|choose|pick|use) (?:option|plan|variant|version|alternative) \w",
        r"\bi prefer (?:option|plan|variant|version|the (?:first|second|third|last) one)\b",
        r"^(?:(?:yes|ok|okay|then|so),? )*(?:option|plan|variant|version) \w{1,3}(?:,? please)?[.!]*$",
        r"^(?:(?:yes|ok|okay|then|so),? )*(?:the )?(?:first|second|third|last|other) (?:one|option|version"
        r"|variant|draft),? please[.!]*$",
    ),
    _cue(
        "use instead",
        "decision",
        "one thing is chosen over another",
        "Use MySQL instead of Postgres.",
        "Why use MySQL instead of Postgres?",
        "use ",
        rf"{_NOW}use [^;]{{1,60}}(?:\b(?:instead of|rather than|over|instead)\b|, not\b)",
        r"^instead of [^;]{1,60}\buse\b",
    ),
    _cue(
        "it is",
        "decision",
        "one of several ways is chosen",
        "Option 2 it is.",
        "Leave the file where it is",
        " it is",
        r"^(?:ok(?:ay)?,? |then |so |alright,? )*(?!(?:what|whatever|wherever|how|as|that|where|who|here"
        r"|there|so|why|if|i|and)\b)[\w.+#-]+(?: (?!as )[\w.+#-]+){0,3} it is(?:,? then)?[.!]*$",
    ),
    _cue(
        "change of mind",
        "decision",
        "it takes an earlier decision back and puts another in its place",
        "I changed my mind: MySQL.",
        "He changed his mind.",
        "changed my mind|changed our mind|second thought",
        r"\b(?:i|we)(?:'ve| have)? changed (?:my|our) minds?\b\s?\S",
        r"\bon second thoughts?\b,?\s\S",
    ),
)

ASKED = frozenset({"never + verb", "do not + verb", "without + doing"})
"""Rules that also hold in what follows a polite request: "Can you fix it, but don't touch the tests?"."""
