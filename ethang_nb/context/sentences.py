"""Sentences: what of a message is its writer's own words, sentence by sentence.

Left out is what only stands in the message: fenced and indented code, quoted lines, pasted mail, logs, tables, tagged
documents, headings, the middle of a very long text. That is judged by form alone: a paste without any mark of
one reads like the writer's own words, and words of the writer inside a fence or after a pasted mail are not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

__all__ = ["Sentence", "plain", "sentences"]

Marked = Literal["", "constraint", "decision"]


class Sentence(NamedTuple):
    """A sentence word for word, as rules hear it, and what the heading over its list makes of it.

    Heard is it in lower case, with straight apostrophes, and quotations and code blotted out.
    """

    text: str
    heard: str
    marked: Marked = ""


class _Line(NamedTuple):
    start: int
    end: int
    bare: str
    item: int  # where the text of a list item begins in the line, 0 where it is none
    indented: bool


class _Block(NamedTuple):
    start: int
    end: int
    item: bool
    marked: Marked


_FENCE = re.compile(r"(?:(?:[-*+]|\d{1,3}[.)])\s{1,4})?(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"(?:[-*+•–]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|\[[ xX]?\])\s{1,9}(?:\[[ xX]?\]\s)?")
_DASHES = re.compile(r"([-=*_])\1{2,}")
_OPEN_TAG = re.compile(
    r"<(article|code|context|data|diff|docs?|document|documents|e?-?mail|error|excerpt|file|issue|logs?"
    r"|message|output|page|paste|pre|quote|blockquote|readme|results?|source|text|transcript|tool_result"
    r"|system-reminder|local-command-\w{1,20}|command-\w{1,20})(?:\s[^<>]{0,200})?>",
    re.I,
)
# What other agents put into a user message of their own: a summary of what came before, a caveat on commands.
_HARNESS = (
    "This session is being continued from a previous conversation that ran out of context",
    "Caveat: The messages below were",
)
_HEADING = re.compile(r"#{1,6}\s")
# Lines that are never anybody's instruction: a log, a shell, a test, a table, a traceback.
_MACHINE = re.compile(
    r"(?:\||\$ |>>> |\d{1,6}(?:\t|\|)|\d{2,6}:\s|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|\[?(?:ERROR"
    r"|FATAL|INFO|DEBUG|TRACE)\]?[:\s]|\[WARN(?:ING)?\]|File \"[^\"]*\", line \d|[A-Z]\w*(?:Error"
    r"|Exception|Warning): )"
)
_MAIL = re.compile(
    r"(?:(?:From|Sent|To|Cc|Subject|Von|An|Betreff|Gesendet)\s?: |-{2,} ?(?:Original|Forwarded"
    r"|Weitergeleitet)|On .{5,120} wrote:\s*$|Am .{5,120} schrieb.{0,80}:\s*$)"
)
_UNTIL_BLANK = ("Traceback (most recent call last)", "diff --git ", "@@ -")
# What announces somebody else's text. A mail has paragraphs, so it ends with the message or at a line of dashes.
_ANNOUNCED_MAIL = re.compile(
    r"(?i)(?:here(?:'s|’s| is| are)|this is|i got|i received|below is|see)\b.{0,40}\b(?:(?:e-?)?mails?"
    r"|letter)\b.{0,40}:\s*$|(?:the |my |our )?(?:(?:e-?)?mail|letter)\b.{0,30}:\s*$"
)
_ANNOUNCED = re.compile(
    r"(?i)(?:here(?:'s|’s| is| are)|this is|below|the following|i (?:got|get|see)|we (?:got|get"
    r"|see))\b.{0,60}\b(?:article|code|comments?|config|diff|docs?|documentation|errors?|excerpt|file"
    r"|issue|logs?|message|output|page|paragraph|post|prompt|readme|reply|response|review|section|snippet"
    r"|spec|text|thread|ticket|trace(?:back)?|transcript)\b.{0,40}:\s*$|(?:the |my |our "
    r"|from the )?(?:readme|logs?|errors?|traceback|stack ?trace|message|console|terminal|stdout"
    r"|stderr)\b(?: \w+){0,3}:\s*$|.{0,120}\b(?:wrote|said|says|writes|reads|replied|answered"
    r"|states)\b(?: this| the following)?:\s*$"
)
_BINDING = re.compile(
    r"(?i)rule|constraint|requirement|guideline|convention|style|restriction|limit|decision"
)
_MARKED = re.compile(
    r"(?i)[\s#*_]*(?:(?:please )?(?:follow|respect|obey|keep to|stick to|mind|here are"
    r"|these are)\s+)?(?:(?:some|my|our|the|your|hard|ground|strict|important|a few|these|following"
    r"|additional|general|more|other|key|coding|code|style|naming|writing|formatting|house|project|team"
    r"|output|citation)\s+)*(?:(?P<constraint>constraints?|rules?|requirements?|limits|restrictions"
    r"|guidelines|conventions|don['’]?ts|non-goals)|(?P<decision>decisions?))(?: so far| made| until now"
    r"| for (?:this|the|your|all) .{1,40})?\s*(?P<colon>:?)[\s*_]*(?P<more>:?)\s*$"
)
_NOTHING = frozenset(
    {"none", "n/a", "na", "nothing", "tbd", "-", "no constraints", "none yet", "none so far"}
)

_QUIET = re.compile(
    # Quoted words and inline code: named, not said. A sentence never ends inside.
    r"`[^`\n]{1,300}`|\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»"
    r"|(?<!\w)'[^'\n]{1,200}'(?!\w)|\u2018[^’\n]{1,200}’(?!\w)|https?://[^\s)>\]]{1,500}"
)
_END = re.compile(r"([.!?…]{1,9})[\"'”’)\]*]{0,4}\s+")
_LAST_WORD = re.compile(r"(?:^|\s|\()([^\s(]{1,12})$")
_SHORT_WORDS = """
approx bzgl bzw ca cf d.h dr e.g eg etc evtl fig ggf i.e ie inc incl inkl max min mr mrs ms no nr prof resp sog st
u.a usw vgl vs z.b
"""
_SHORT_FORMS = frozenset(_SHORT_WORDS.split())
_LEAN = re.compile(r"(?i)(?:,|\b(?:an?|and|as|at|by|for|from|in|into|of|on|or|the|that|to|with))$")
_WRAP = 50  # ► characters; a line this long without an end goes on in the next
_LONGEST = 400  # ► characters; a longer sentence is prose that quotes a rule, not a rule
_EDGE = 10_000  # ► characters at either end of a text that are looked at
_STRAIGHT = str.maketrans({"’": "'", "\u2018": "'", "\u00b4": "'", "\u00a0": " ", "\u202f": " ", "*": " "})
_PLAIN = _STRAIGHT | str.maketrans(dict.fromkeys('`"“”„«»', " "))


def sentences(text: str) -> Iterator[Sentence]:
    """The writer's own sentences of `text`, in order, none longer than 400 characters. Linear in the text.

    Of a text over 20,000 characters the first and the last 10,000 are looked at: what is longer is a paste.
    """
    for block in _blocks(text):
        for start, end in _looked_at(block, len(text)):
            part = text[start:end]
            quiet = _QUIET.sub(lambda match: "q" * len(match.group()), part)
            if block.marked and len(part) <= _LONGEST:
                if part.strip().rstrip(".").lower() not in _NOTHING:
                    yield Sentence(part.strip(), _heard(quiet), block.marked)
                continue
            for first, last in _cuts(quiet):
                said = part[first:last].strip()
                # Half a sentence at the edge of what is looked at is none.
                whole = (first or start == block.start) and (last < len(part) or end == block.end)
                if whole and 0 < len(said) <= _LONGEST:
                    yield Sentence(said, _heard(quiet[first:last]))


def _looked_at(block: _Block, size: int) -> Iterator[tuple[int, int]]:
    if size <= 2 * _EDGE or block.end <= _EDGE or block.start >= size - _EDGE:
        yield block.start, block.end
        return
    if block.start < _EDGE:
        yield block.start, _EDGE
    if block.end > size - _EDGE:
        yield size - _EDGE, block.end


def plain(text: str) -> str:
    """`text` in one line and lower case, with what it quotes but without the marks."""
    return " ".join(text.translate(_PLAIN).split()).lower()


def _heard(quiet: str) -> str:
    return " ".join(quiet.translate(_STRAIGHT).split()).lower()


def _cuts(quiet: str) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end. A dot after a short form or an initial ends nothing."""
    start = 0
    for end in _END.finditer(quiet):
        if end.group(1) == "." and _goes_on(quiet, start, end.start(1)):
            continue
        if end.group(1) in ("...", "…") and quiet[end.end() : end.end() + 1].islower():
            continue
        yield start, end.end()
        start = end.end()
    if start < len(quiet):
        yield start, len(quiet)


def _goes_on(quiet: str, start: int, dot: int) -> bool:
    word = _LAST_WORD.search(quiet[max(start, dot - 13) : dot])
    last = word[1].lower() if word else ""
    if last in _SHORT_FORMS:
        return last != "no" or quiet[dot + 1 : dot + 3].strip().isdigit()  # "No. 17", but "I said no. Stop."
    return len(last) == 1 and last.isalpha() and not quiet[start : dot - 1].strip()  # "J. Smith"


def _blocks(text: str) -> Iterator[_Block]:
    """The writer's own paragraphs' lines and list items, wrapped lines joined."""
    marked: Marked = ""
    held: _Block | None = None
    for line in _own_lines(text):
        heading = line is not None and _heading(line.bare)
        if held and line and not line.item and not heading and _continues(text, held, line):
            held = held._replace(end=line.end)
            continue
        if held:
            yield held
            held = None
        if heading:
            marked = heading.marked
        elif line:
            if not line.item and not line.indented:
                marked = ""
            held = _Block(line.start + line.item, line.end, line.item > 0, marked if line.item else "")
    if held:
        yield held


def _own_lines(text: str) -> Iterator[_Line | None]:
    """The lines that the writer wrote himself; None between paragraphs and where something else stood.

    Whole lines from the middle of a long text are passed over, but what begins there (a fence, a mail) counts.
    """
    base = _indent_of_all(text)
    middle = range(_EDGE, len(text) - _EDGE)
    until = ""  # what ends the foreign text we are in, as `_foreign` names it, or "indent"
    in_list = begun = False
    blank = True  # whether the line before was blank
    end = 0
    for line in text.splitlines(keepends=True):
        start, end = end, end + len(line)
        bare = line.strip()
        begun = begun or bool(bare)
        if until:
            if not _ends(until, bare, begun=begun, indented=_indent(line) >= base + 4):
                continue
            blank, again, until = True, until == "indent", ""
            yield None
            if not again:
                continue
        if not bare:
            blank = True
            yield None
            continue
        until = _foreign(bare)
        if not until and start in middle and end in middle:
            continue
        item = None if until else _ITEM.match(bare)
        deep = _indent(line) - base
        if not until and not item and blank and not in_list and deep >= 4 and start:
            until = "indent"
        blank = False
        if until:
            begun = until == "blank" and bare[-1] != ":"  # else it begins under this line
            until = until.removeprefix("line")
            yield None
            continue
        in_list = item is not None or (in_list and deep > 0)
        mark = line.index(bare[0]) + item.end() if item else 0
        yield _Line(start, end, bare, mark, deep > 0)


def _ends(until: str, bare: str, *, begun: bool, indented: bool) -> bool:
    """Whether a line ends the foreign text it stands in."""
    match until:
        case "blank":
            return begun and not bare
        case "dashes":
            return _DASHES.fullmatch(bare) is not None
        case "indent":
            return bool(bare) and not indented
        case "end":
            return False
    if until[0] == "<":
        return until in bare.lower()
    return bare.startswith(until) and not bare.strip(until[0])


class _Heading(NamedTuple):
    marked: Marked


def _heading(bare: str) -> _Heading | None:
    """The heading that a line is, with what it makes of the list under it."""
    named = _MARKED.match(bare) if len(bare) < 120 else None
    if bare[0] != "#" and not (named and (named["colon"] or named["more"])):
        return None
    if named is None:
        return _Heading("") if _HEADING.match(bare) else None
    return _Heading("constraint" if named["constraint"] else "decision")


def _foreign(bare: str) -> str:
    """What ends the foreign text that this line begins: a fence, a closing tag, "blank", "dashes" or "end".

    "line" where it is this line alone, "" where the line is the writer's own.
    """
    if bare[0] in "`~-*+0123456789" and (fence := _FENCE.match(bare)):
        marks, info = fence.groups()
        if marks[0] not in info:
            return str(marks)
    if bare[0] == "<" and (tag := _OPEN_TAG.match(bare)):
        closing = f"</{tag.group(1).lower()}>"
        return "line" if closing in bare.lower() else closing
    if bare.startswith(_HARNESS):
        return "end"
    if bare[0] == ">" or _MACHINE.match(bare):
        return "line"
    if bare.startswith(_UNTIL_BLANK):
        return "blank"
    if _MAIL.match(bare):
        return "dashes"
    if len(bare) < 200 and bare[-1] == ":" and not _BINDING.search(bare):
        if _ANNOUNCED_MAIL.match(bare):
            return "dashes"
        if _ANNOUNCED.match(bare):
            return "blank"
    return ""


def _continues(text: str, held: _Block, line: _Line) -> bool:
    """Whether `line` goes on with what was held: under a list item, or after a long line without an end."""
    if held.item and line.indented:
        return True
    last = text[max(held.start, held.end - 2 * _WRAP) : held.end].rstrip()
    last = last[last.rfind("\n") + 1 :].strip()
    if not last or last[-1] in ".!?:;…":
        return False
    if line.bare[0].islower() or line.bare[0].isdigit():
        return len(last) >= _WRAP
    return len(last) >= _WRAP and _LEAN.search(last) is not None


def _indent(line: str) -> int:
    return len(line[:80].expandtabs(4)) - len(line[:80].expandtabs(4).lstrip())


def _indent_of_all(text: str) -> int:
    """The indentation that all lines share; the first may stand outside, as in a docstring."""
    lines = [line for line in text.splitlines()[1:] if line.strip()]
    return min(map(_indent, lines), default=0)
