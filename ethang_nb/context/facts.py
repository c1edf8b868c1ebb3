"""Facts: strings of a text that a later step may need word for word, found by rules over characters.

The rules are data. Where a line, a word or a sign begins they are tried in order, and what one has taken no
other looks at; each is bounded, so the work is linear in the text. A number of one or two digits is a fact only
with a unit, a currency, a percent sign or a name (`cap = 7`). That a string survives says only that a model
*could* still use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Literal, NamedTuple, get_args

__all__ = ["KINDS", "LONGEST", "WORD", "FactKind", "FactString", "facts"]

FactKind = Literal["error", "command", "path", "date", "hash", "amount", "version", "identifier", "number"]
KINDS: tuple[FactKind, ...] = get_args(FactKind)
LONGEST = 2_000_000  # ► characters looked at; a longer text is looked at from its beginning
KEPT_TEXTS, KEPT_LONGEST = (
    1_000,
    20_000,
)  # ► texts whose facts are kept, and characters of each: 20 MB at most

WORD = "A-Za-z0-9_À-ÖØ-öø-ɏ"
"""What words are made of, for a character class. Latin alone, so that `ORD-88421` is found inside Chinese too."""


class FactString(NamedTuple):
    """A fact, what kind it is, and the line (from 1) it stands in."""

    text: str
    kind: FactKind
    line: int


class _Rule(NamedTuple):
    """What a pattern finds where a word begins with one of `first`: `0` a digit, `a` a small letter, `A` a capital.

    Kind "" is no fact, but taken, so that nothing inside is one. A group, if the pattern has one, is the fact.
    """

    kind: FactKind | Literal[""]
    first: str
    pattern: str


_END = f"(?![{WORD}])"
_PART = f"[{WORD}.@+~-]{{1,80}}+"
_LINES = "(?::[0-9]{1,6}){0,2}"  # where a tool says path:line:column
_NUMBER = r"(?>[0-9]{1,3}(?:,[0-9]{3}(?![0-9]))++(?:\.[0-9]{1,20}+)?|[0-9]{1,40}+(?:\.[0-9]{1,40}+)?)"
_JOINED = "[A-Za-z0-9]{1,40}+(?:[-_][A-Za-z0-9]{1,40}+){1,8}"
_YEAR = f"[12][0-9]{{3}}{_END}"
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?"
    "|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_CLOCK = r"[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
_MONEY = (
    "(?:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|BRL|SEK|NOK|DKK|PLN|CZK|HUF|MXN|KRW|TRY|ZAR|BTC|ETH"
    f"|euros?|dollars?|cents){_END}"
)
_TIMES = f"(?: ?(?:k|K|M|m|bn|B|thousand|million|billion){_END})?"
_UNIT = (
    "(?:ns|[µu]s|ms|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|weeks?|months?|years?|[KMGT]i?B|[kKMG]?bps|bytes?"
    f"|tokens?|px|[kmc]m|kg|mg|lb|[kMG]?Hz|rpm|kWh?|MW|°[CF]|per ?cent|per mille){_END}"
)
_EXTENSION = (
    "(?:py[iwx]?|ipynb|[cm]?js|tsx?|jsx|jsonl?|ya?ml|toml|md|rst|txt|[ct]sv|xml|html?|s?css|sql(?:ite3?)?|db"
    "|sh|bash|zsh|ps1|bat|cc|cpp|hpp|rs|go|java|kts?|rb|php|pl|lua|swift|cs|scala|jl|ini|cfg|conf|env|lock|log"
    "|pdf|png|jpe?g|gif|svg|webp|ico|zip|tar|t?gz|bz2|xz|whl|parquet|np[yz]|pkl|h5|onnx|exe|dll|graphql"
    "|tf|gradle|cmake|tex|bib|docx?|xlsx?|pptx?|eml|bak|pem|crt)"
)
_FOLDER = (
    "(?:src|libs?|tests?|docs?|data|bin|apps?|etc|usr|home|tmp|var|opt|build|dist|scripts?|config|migrations"
    "|packages|cmd|pkg|internal|include|assets|static|templates|examples|notebooks|tools|vendor|origin|feature)"
)
_PRODUCT = (
    "(?:Python|Node(?:\\.js)?|Java|Ruby|Go|Rust|PHP|Perl|Julia|Ubuntu|Debian|Fedora|Windows|macOS|iOS|Android"
    "|Postgres(?:QL)?|MySQL|SQLite|Redis|MongoDB|Django|Flask|Rails|React|Vue|CUDA|GCC|gcc|clang|CMake|GPT|Claude"
    "|Gemini|Llama|[Vv]ersion|[Rr]elease)"
)
_BROKEN = (
    "(?i:errors?|exceptions?|fail(?:ed|s|ure)?|warnings?|messages?|refused|rejected|denied|aborted|crash(?:ed|es)?"
    "|says?|said|reports?|reported|complain(?:ed|s))"
)
# To the end of the line or the sentence; a longer message is cut at the end of a word.
_MESSAGE = (
    r"(?:[^\n]{1,160}?(?=[.!?]?[\"'`)\]}]{0,3}[ \t\r]*(?:\n|\Z)|[.!?] +[A-Z“\"(])"
    rf"|[^\n]{{1,160}}{_END})"
)
_REASON = (
    " (?:Bad Request|Unauthorized|Forbidden|Not Found|Method Not Allowed|Request Timeout|Conflict|Gone"
    "|Payload Too Large|Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)"
)

_LINE_RULES = (
    _Rule("command", "", r"(?:\n|\A)[ \t]{0,8}\$ +([^\s][^\n]{1,300})(?![^\n])"),  # $ pytest -q
    _Rule("", "", r"(?:\n|\A) {0,8}[0-9]{1,7}(?:\t|→|:(?! ))"),  # the line numbers of a listing
)
_WORD_RULES = (
    _Rule("", "a", r"(?:spill|log|cell|var)://[^\s\]),;|\"'`<>]{1,200}"),  # an address of ours
    _Rule("path", "a", r"[a-z][a-z0-9+.-]{1,15}+://[^\s<>\"'`)\]},;|\\]{1,400}"),  # https://example.org/a?b=1
    _Rule(  # C:\data\caps.csv
        "path", "aA", rf"[A-Za-z]:(?:\\{{1,2}}|/)(?=[{WORD}.$]{{3}})[^\s<>\"'`|?*,;:)]{{1,300}}"
    ),
    _Rule(  # ValueError: bad cap
        "error",
        "aA",
        rf"(?:[a-z_][{WORD}]{{0,40}}+\.){{0,5}}+[A-Z][A-Za-z0-9_]{{1,50}}?"
        rf"(?:Error|Exception|Warning|Interrupt|Fault){_END}(?:: (?![\s#]){_MESSAGE})?",
    ),
    _Rule(  # error: cannot open the cap table
        "error",
        "aA",
        r"(?i:error|fatal|panic|failure|failed|npm err!)(?: [A-Z]{1,4}[0-9]{1,6}|\[[A-Za-z0-9_-]{1,16}\])?"
        rf": (?![\s#\"'{{\[]){_MESSAGE}",
    ),
    _Rule(  # it failed with "no such order"
        "error",
        "aA",
        rf"{_BROKEN}(?:[\"']? ?[:=] ?|[^\n\"“]{{1,40}}+)[\"“](?=[^\n\"”]{{1,60}} )([{WORD}][^\"”\n{{]{{4,160}}+)[\"”]",
    ),
    _Rule(  # exit code 137
        "error",
        "aA",
        r"(?i:exit(?:ed|s)?(?: with)?(?: non-?zero)?(?: (?:status|code)){0,2}[:=]? ?-?[0-9]{1,3})"
        rf"(?![{WORD}-]|[.,][0-9])",
    ),
    _Rule(  # HTTP 503
        "error",
        "aA",
        r"(?i:http(?:/[0-9](?:\.[0-9])?)?|status(?:[ _]code)?)[\"']?[ :=]{1,3}[1-5][0-9]{2}"
        rf"{_END}(?:{_REASON})?",
    ),
    _Rule("error", "0", rf"[45][0-9]{{2}}{_REASON}"),  # 404 Not Found
    _Rule(  # SIGKILL, ENOENT
        "error",
        "A",
        "(?:SIG(?:KILL|TERM|SEGV|INT|ABRT|HUP|PIPE|BUS)|E(?:NO[A-Z]{3,6}|CONN[A-Z]{4,8}|ACCES|PERM|EXIST|PIPE"
        f"|ADDRINUSE|TIMEDOUT|ISDIR|NOTEMPTY)){_END}",
    ),
    _Rule(  # 2026-03-01T10:00:00Z, 2026/03/01, 01.03.2026, 2026-W12, 1 March 2026, 14:30 UTC
        "date",
        "0",
        r"[12][0-9]{3}(?:-[01][0-9]-[0-3][0-9]|/[01]?[0-9]/[0-3]?[0-9]|\.[01][0-9]\.[0-3][0-9])"
        rf"(?:[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?{_END}"
        rf"|[0-3]?[0-9](?:/[0-3]?[0-9]/|\.[01]?[0-9]\.){_YEAR}|[12][0-9]{{3}}-W[0-5][0-9]{_END}"
        rf"|[0-3]?[0-9](?:st|nd|rd|th|\.)? (?:of )?{_MONTH}{_END}(?:\.?,? {_YEAR})?"
        rf"|{_CLOCK} ?(?:am|pm|AM|PM|UTC|GMT|CES?T|[EP][SD]T){_END}",
    ),
    _Rule(  # March 1st, Mar 1, 2026, March 2026, Q3 2026
        "date",
        "A",
        rf"{_MONTH}\.? (?:[0-3]?[0-9](?:st|nd|rd|th)?{_END}(?:,? {_YEAR})?|{_YEAR})|Q[1-4] ?/?{_YEAR}",
    ),
    _Rule("", "0", rf"{_CLOCK}(?![0-9])"),  # 10:30:05, a time in a log
    _Rule(  # a UUID, sha256:1a2b3c4d, 1a2b3c4d
        "hash",
        "aA0",
        rf"[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}{_END}"
        rf"|(?:sha(?:1|256|384|512)|md5)[:=-][0-9a-f]{{7,128}}{_END}"
        rf"|(?!0b)(?=[a-f]{{0,128}}+[0-9])(?=[0-9]{{0,128}}+[a-f])[0-9a-f]{{7,128}}+(?![{WORD}-])"
        rf"|(?=[A-F]{{0,128}}+[0-9])(?=[0-9]{{0,128}}+[A-F])[0-9A-F]{{16,128}}+(?![{WORD}-])",
    ),
    _Rule("", "aA0", r"[A-Za-z0-9+/]{60,}+={0,2}"),  # base64
    _Rule(  # a.b@example.org
        "identifier",
        "aA0",
        rf"[{WORD}][{WORD}.+-]{{0,60}}+@[{WORD}-]{{1,60}}+(?:\.[{WORD}-]{{1,30}}+){{1,4}}",
    ),
    _Rule(  # 10.0.0.7:8080
        "identifier", "0", rf"(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}(?::[0-9]{{2,5}})?{_END}"
    ),
    _Rule(  # src/pay/core.py:42, docs/guide, a/b_c, migrations/
        "path",
        "aA",
        rf"((?:{_PART}/){{2,12}}+(?:{_PART})?|{_FOLDER}/{_PART}"
        rf"|[A-Za-z_][{WORD}.-]{{0,80}}+/(?=[{WORD}-]{{0,60}}(?:[_0-9]|\.[{WORD}]))[{WORD}][{WORD}.-]{{1,80}}"
        rf"|[A-Za-z_][{WORD}-]{{2,60}}+/(?![{WORD}./*<])){_LINES}",
    ),
    _Rule(  # caps.csv, Makefile
        "path",
        "aA0",
        rf"((?!(?:self|this|cls|math|np|os|sys|re)\.)[{WORD}][{WORD}-]{{0,60}}+(?:\.[{WORD}-]{{1,30}}+){{0,3}}?"
        rf"\.{_EXTENSION}(?![{WORD}-]|\((?![0-9]))"
        rf"|(?:Makefile|Dockerfile|README|LICENSE|CHANGELOG)(?![{WORD}.])){_LINES}",
    ),
    _Rule(  # 1.2.3rc1
        "version",
        "0",
        r"[0-9]{1,6}(?:\.[0-9]{1,6}){2,3}(?:[-.+]?(?:rc|a|b|alpha|beta|dev|post)\.?[0-9]{1,6})?"
        rf"(?:[-+][{WORD}.]{{1,30}})?{_END}",
    ),
    _Rule(  # v2, httpx>=0.27, compaction@v2, httpx-0.27.2, Python 3.11
        "version",
        "aA",
        rf"v[0-9]{{1,6}}(?:\.[0-9]{{1,6}}){{0,3}}(?:[-+][{WORD}.]{{1,30}})?{_END}"
        rf"|[A-Za-z][{WORD}.-]{{0,60}}+(?:[=~<>!]=(?=[0-9]{{1,6}}\.[0-9])|@)v?[0-9]{{1,6}}"
        rf"(?:\.[{WORD}]{{1,12}}){{0,4}}"
        r"|[A-Za-z][A-Za-z0-9_]{0,40}+(?:-[A-Za-z][A-Za-z0-9_]{0,40}+){0,4}+-v?[0-9]{1,6}(?:\.[0-9]{1,6}){1,4}"
        rf"{_END}"
        rf"|{_PRODUCT} v?[0-9]{{1,4}}(?:\.[0-9]{{1,6}}){{0,3}}{_END}",
    ),
    _Rule(  # 125,000 EUR, 5 million dollars, 1.250,50 €
        "amount",
        "0",
        rf"(?:[0-9]{{1,3}}(?:\.[0-9]{{3}})+,[0-9]{{2}}|{_NUMBER}{_TIMES}) ?(?:[€£¥₹₩₺]|{_MONEY})",
    ),
    _Rule("amount", "A", rf"(?:(?:US|AU?|CA?|NZ|HK|R|S)\$|{_MONEY}) ?{_NUMBER}{_TIMES}"),  # USD 5
    _Rule("", "aA", r"[Ll]ines? [0-9]{1,7}(?:-[0-9]{1,7})?(?: of [0-9]{1,7})?"),  # line 120
    _Rule("number", "0", rf"{_NUMBER} ?[%‰]"),  # 12.5 %
    _Rule(  # 200K, 40 ms, 30-day
        "number",
        "0",
        rf"[0-9]{{1,7}}(?:\.[0-9]{{1,3}})?(?:{_UNIT}|[kKMBxshd]{_END})|[0-9]{{1,2}}(?:\.[0-9]{{1,2}})?[ -]{_UNIT}",
    ),
    _Rule(  # ORD-88421, contract_03, E0382
        "identifier",
        "aA",
        rf"(?![a-z]{{1,40}}+-[0-9]{_END})(?=[A-Za-z_-]{{0,80}}+[0-9]){_JOINED}{_END}"
        rf"|[A-Z]{{1,6}}[0-9]{{2,12}}[A-Z]?{_END}",
    ),
    _Rule(  # 7f-alpha, 2024-0815, 0xff00
        "identifier",
        "0",
        rf"(?![0-9]{{1,3}}-[a-z]+{_END}|[0-9]{{1,3}}e-[0-9]{{1,3}}{_END})(?=[0-9_-]{{0,80}}+[A-Za-z]){_JOINED}{_END}"
        rf"|(?:[0-9]{{4}}-[0-9]{{3,10}}|[0-9]{{2,10}}(?:-[0-9]{{2,10}}){{2,4}})(?![{WORD}-])"
        rf"|0x[0-9a-fA-F]{{3,16}}{_END}",
    ),
    _Rule(  # cap = 7
        "number",
        "aA",
        rf"(?!(?:int|float|str|bool|None|there|this|that|which|what){_END})[A-Za-z_][{WORD}-]{{2,40}}+[\"']?"
        rf"(?: ?:?= ?|: ?| (?:is|are|was) )-?[0-9]{{1,2}}(?:\.[0-9])?(?![{WORD}%‰]|[.,:/-][0-9])",
    ),
    _Rule(  # order_cap, getOrder, ContextManager(
        "identifier",
        "aA",
        rf"(?=[{WORD}]{{6}})_{{0,2}}[A-Za-z][A-Za-z0-9]{{0,40}}+(?:_[A-Za-z0-9]{{1,40}}+){{1,10}}{_END}"
        rf"|[a-z]{{2,20}}+(?:[A-Z][a-z0-9]{{1,20}}+){{1,6}}{_END}|(?:[A-Z][a-z0-9]{{1,20}}+){{2,7}}(?=\()",
    ),
    _Rule(  # 125,000, 17.5, 100-250
        "number",
        "0",
        rf"(?<![0-9]\.)(?:(?=(?:[.,]?[0-9]){{3}})|(?={_NUMBER}-(?:[.,]?[0-9]){{3}})){_NUMBER}(?:-{_NUMBER})?"
        rf"(?![{WORD}]|-[{WORD}]|\.[0-9])",
    ),
    _Rule(  # a number too short or too odd to say anything
        "", "0", rf"{_NUMBER}(?:[-.,]{_NUMBER})*+[{WORD}]*+"
    ),
)
_SIGNS = "$€£¥₹₩₺`#/~.\\\\"
_SIGN_RULES = (
    _Rule(  # `pytest -q tests`
        "command",
        "",
        rf"(?<![{WORD}`)\]'\"])`(?!(?:def|class|import|from|return|for|if|with|raise|async|await|not|the|a) )"
        r"((?:[a-z][a-z0-9_+.-]{0,40}|[A-Za-z0-9_./~-]{1,80}/[A-Za-z0-9_.-]{1,60}) (?![=+*/<>!-]=? )"
        r"[^`\n]{0,200}[^`\s])`",
    ),
    _Rule("identifier", "", r"`([A-Za-z_]{3,60})(?:\(\))?`"),  # `compare`
    _Rule("amount", "", rf"[$€£¥₹₩₺] ?{_NUMBER}{_TIMES}(?!-?[{WORD}])"),  # $1,200
    _Rule("", "", r"#L[0-9]{1,7}(?:-[0-9]{1,7})?(?:@[0-9a-f]{8})?"),  # the lines of an address
    _Rule("identifier", "", rf"(?<![{WORD}&])#[0-9]{{1,7}}{_END}"),  # #1234
    _Rule(  # /etc/hosts, ./run.sh, ~/notes
        "path",
        "",
        rf"(?<![{WORD}/<:.)\]])((?:~|\.{{1,2}})?/(?:{_PART}/){{0,12}}[{WORD}.][{WORD}.@+~-]{{1,80}}+){_LINES}",
    ),
    _Rule(  # \\server\share
        "path", "", rf"(?<![\\{WORD}])\\\\[A-Za-z0-9.-]{{2,60}}\\(?=[{WORD}])[^\s<>\"'`|?*,;:)]{{1,300}}"
    ),
    _Rule(
        "path", "", rf"(?<![{WORD}.])\.(?:env|gitignore|dockerignore|bashrc|zshrc|npmrc|editorconfig){_END}"
    ),
)
_CUES = (  # of words after which a rule may find more than a number
    "[Ee]rr|[Ee]xc|[Ff]ai|[Ff]at|[Pp]an|npm|[Ww]ar|[Mm]es|[Rr]ef|[Rr]ej|[Dd]en|[Aa]bo|[Cc]ra|[Ss]a[iy]|[Rr]ep"
    "|[Cc]om|[Ee]xi|[Hh]tt|[Ss]tat|Makefile|Dockerfile"
)
# Words with which no rule begins, and what stands between words: passed over without being looked at further.
_PLAIN = (
    rf"(?:[^{WORD}{_SIGNS}\n]++|\n(?![ \t]{{0,8}}[$0-9])|`{{4,}}+|/{{3,}}+|\\{{3,}}+|\.{{3,}}+|#{{2,}}+|~{{2,}}+"
    rf"|(?<![{WORD}-])(?!{_CUES})[A-Z]?[a-zß-öø-ɏ]++(?:(?=[ ,;()\n\]}}!?\"'])"
    r"(?![\"')]? ?(?:[:=0-9]|v[0-9]|(?:is|are|was) -?[0-9]))"
    r"|(?=\.[ \n](?![0-9]))|(?=:(?:\n| [^0-9 -]))|(?==[A-Za-z\"'(\[{])))*+"
)
_FIRST = {"0": "0-9", "A": "A-Z", "a": WORD.replace("A-Z", "").replace("0-9", "")}


@cache
def _whole() -> tuple[re.Pattern[str], dict[int, tuple[FactKind | Literal[""], int]]]:
    """One pattern of all rules, and by the number of a rule's group its kind and the group that is the fact.

    Made when the first text is looked at: it takes tens of milliseconds, which an import has no use for.
    """
    numbers: dict[int, tuple[FactKind | Literal[""], int]] = {0: ("", 0)}
    own = 1

    def joined(rules: Iterable[_Rule]) -> str:
        nonlocal own
        for rule in rules:
            inner = re.compile(rule.pattern).groups
            numbers[own] = (rule.kind, own + inner)
            own += 1 + inner
        return "(?:" + "|".join(f"({rule.pattern})" for rule in rules) + ")"

    words = "|".join(
        f"(?=[{letters}])" + joined([rule for rule in _WORD_RULES if first in rule.first])
        for first, letters in _FIRST.items()
    )
    lines, signs = joined(_LINE_RULES), joined(_SIGN_RULES)
    begins = rf"(?<![{WORD}])(?<![{WORD}]-)(?:{words})|{lines}|(?=[{_SIGNS}]){signs}"
    return re.compile(rf"{_PLAIN}(?:{begins}|[{WORD}]++|[^{WORD}]|\Z)"), numbers


_SHELL = re.compile(r"^ {0,3}```(?:bash|sh|shell|zsh|console|powershell|cmd)[ \t]*\n", re.M)
_FENCE = re.compile(r"^ {0,3}```", re.M)
_LONGEST_COMMAND = 300  # ► characters
_TRAILING = {"path": ".,:;!?-~+@", "error": " \t\r.,;'\"`"}  # what ends a sentence, and no such fact
_QUOTES = re.compile(r"[\"']")


def facts(text: str) -> tuple[FactString, ...]:
    """Facts of `text` in order of appearance, each string once. Linear in the text.

    Those of the last texts are kept: the same texts leave again when a note is written anew or a policy compared.
    """
    return _kept(text) if len(text) <= KEPT_LONGEST else _facts(text[:LONGEST])


@lru_cache(maxsize=KEPT_TEXTS)
def _kept(text: str) -> tuple[FactString, ...]:
    return _facts(text)


def _facts(text: str) -> tuple[FactString, ...]:
    found: dict[str, FactString] = {}
    line, at = 1, 0
    for start, string, kind in _all(text):
        if string not in found:
            line, at = line + text.count("\n", at, start), start
            found[string] = FactString(string, kind, line)
    return tuple(found.values())


def _all(text: str) -> Iterator[tuple[int, str, FactKind]]:
    """Start, string and kind of every fact; the lines of a fenced shell block are commands."""
    done = 0
    for fence in _SHELL.finditer(text) if "```" in text else ():
        if fence.start() < done:
            continue
        yield from _by_rules(text, done, fence.start())
        close = _FENCE.search(text, fence.end())
        done = close.start() if close else len(text)
        yield from _commands(text, fence.end(), done)
    yield from _by_rules(text, done, len(text))


def _by_rules(text: str, start: int, end: int) -> Iterator[tuple[int, str, FactKind]]:
    pattern, groups = _whole()
    for match in pattern.finditer(text, start, end):
        kind, group = groups[match.lastindex or 0]
        if kind:
            string = match[group].rstrip(_TRAILING.get(kind, ""))
            if kind == "number":
                string = _QUOTES.sub("", string)  # "cap": 7 is called cap: 7
            if len(string) > 1:
                yield match.start(group), string, kind


def _commands(text: str, start: int, end: int) -> Iterator[tuple[int, str, FactKind]]:
    for line in text[start:end].split("\n"):
        command = line.strip().removeprefix("$ ").strip()
        if 1 < len(command) <= _LONGEST_COMMAND and not command.startswith("#"):
            yield start, command, "command"
        start += len(line) + 1
