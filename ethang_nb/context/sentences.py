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


class _Block(NamedTuple):
    start: int
    end: int
    item: bool
    marked: Marked


_FENCE = re.compile(r"(?:(?:[-*+]|\d{1,3}[.)])\s{1,4})?(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"(?:[-*+•–]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|\[[ xX]?\])\s{1,9}(?:\[[ xX]?\]\s)?")
_RULE = re.compile(r"([-=*_])\1{2,}")
_OPEN_TAG = re.compile(
    r"<(article|code|context|data|diff|docs?|document|documents|e?-?mail|error|excerpt|file|issue|logs?|message"
    r"|output|page|paste|pre|quote|blockquote|readme|results?|source|text|transcript|tool_result|system-reminder"
    r"|local-command-\w{1,20}|command-\w{1,20})(?:\s[^<>]{0,200})?>",
    re.I,
)
# What other agents put into a user message of their own: a summary of what came before, a caveat on commands.
_HARNESS = re.compile(
    r"This session is being continued from a previous conversation that ran out of context"
    r"|Caveat: The messages below were"
)
_HEADING = re.compile(r"#{1,6}\s")
# Lines that are never anybody's instruction: a log, a shell, a test, a table, a traceback.
_MACHINE = re.compile(
    r"(?:\||\$ |>>> |\d{1,6}(?:\t|\|)|\d{2,6}:\s|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|\[?(?:ERROR"
    r"|FATAL|INFO|DEBUG|TRACE)\]?[:\s]"
    r"|\[WARN(?:ING)?\]|File \"[^\"]*\", line \d|[A-Z]\w*(?:Error|Exception|Warning): )"
)
_MAIL = re.compile(
    r"(?:(?:From|Sent|To|Cc|Subject|Von|An|Betreff|Gesendet)\s?: |-{2,} ?(?:Original|Forwarded|Weitergeleitet)"
    r"|On .{5,120} wrote:\s*$|Am .{5,120} schrieb.{0,80}:\s*$)"
)
_UNTIL_BLANK = re.compile(r"(?:Traceback \(most recent call last\)|diff --git |@@ -)")
# What announces somebody else's text. A mail has paragraphs, so it ends with the message or at a line of dashes.
_ANNOUNCED_MAIL = re.compile(
    r"(?i)(?:here(?:'s|’s| is| are)|this is|i got|i received|below is|see)\b.{0,40}\b(?:e-?mails?|letter)\b"
    r".{0,40}:\s*$|(?:the |my |our )?(?:e-?mail|letter)\b.{0,30}:\s*$"
)
_ANNOUNCED = re.compile(
    r"(?i)(?:here(?:'s|’s| is| are)|this is|below|the following|i (?:got|get|see)|we (?:got|get|see))\b.{0,60}\b"
    r"(?:article|code|comments?|config|diff|docs?|documentation|errors?|excerpt|file|issue|logs?|message"
    r"|output|page"
    r"|paragraph|post|prompt|readme|reply|response|review|section|snippet|spec|text|thread|ticket|trace(?:back)?"
    r"|transcript)\b.{0,40}:\s*$"
    r"|(?:the |my |our |from the )?(?:readme|logs?|errors?|traceback|stack ?trace|message|console|terminal"
    r"|stdout"
    r"|stderr)\b(?: \w+){0,3}:\s*$"
    r"|.{0,120}\b(?:wrote|said|says|writes|reads|replied|answered|states)\b(?: this| the following)?:\s*$"
)
_MARKED = re.compile(
    r"(?i)[\s#*_]*(?:(?:please )?(?:follow|respect|obey|keep to|stick to|mind|here are|these are)\s+)?"
    r"(?:(?:some|my|our|the|your|hard|ground|strict|important|a few|these|following|additional|general|more"
    r"|other"
    r"|key)\s+)*(?:(?P<constraint>constraints?|rules?|requirements?|limits|restrictions|guidelines|conventions"
    r"|don(?:'|’)?ts|non-goals)|(?P<decision>decisions?))(?: so far| made| until now| for (?:this|the|your"
    r"|all) .{1,40})?"
    r"\s*(?P<colon>:?)[\s*_]*(?P<more>:?)\s*$"
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
_WRAP = 60  # ► characters; a line this long without an end goes on in the next
_LONGEST = 400  # ► characters; a longer sentence is prose that quotes a rule, not a rule
_PASTED = 50_000  # ► characters; a longer message is a paste with words of the writer's before and after it
_EDGE = 10_000  # ► characters at either end of such a message that are looked at
_STRAIGHT = str.maketrans({"’": "'", "\u2018": "'", "\u00b4": "'", "\u00a0": " ", "\u202f": " ", "*": " "})
_PLAIN = _STRAIGHT | str.maketrans(dict.fromkeys('`"“”„«»', " "))


def sentences(text: str) -> Iterator[Sentence]:
    """The writer's own sentences of `text`, in order, none longer than 400 characters. Linear in the text."""
    edge = _EDGE if len(text) > _PASTED else len(text)
    for block in _blocks(text):
        if edge < block.start < len(text) - edge:
            continue
        part = text[block.start : block.end]
        quiet = _QUIET.sub(lambda match: "q" * len(match.group()), part)
        if block.marked and len(part) <= _LONGEST:
            bare = part.strip().rstrip(".").lower()
            if bare not in _NOTHING:
                yield Sentence(part.strip(), _heard(quiet), block.marked)
            continue
        for start, end in _cuts(quiet):
            said = part[start:end].strip()
            if 0 < len(said) <= _LONGEST:
                yield Sentence(said, _heard(quiet[start:end]))


def plain(text: str) -> str:
    """`text` in one line and lower case, with what it quotes but without the marks."""
    return " ".join(text.translate(_PLAIN).split()).lower()


def _heard(quiet: str) -> str:
    return " ".join(quiet.translate(_STRAIGHT).split()).lower()


def _cuts(quiet: str) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end. A dot after a short form, an initial or a bare number ends nothing."""
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
    word = _LAST_WORD.search(quiet, max(start, dot - 13), dot)
    if word is None:
        return False
    last = word.group(1).lower()
    if last in _SHORT_FORMS:
        return last != "no" or quiet[dot + 1 : dot + 3].strip().isdigit()  # "No. 17", but "I said no. Stop."
    alone = not quiet[start : word.start(1)].strip()
    return alone and (last.isdigit() or len(last) == 1)  # "2. Never …" in running text, "J. Smith"


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraph lines and list items that are the writer's own, wrapped lines joined."""
    base = _indent_of_all(text)
    marked: Marked = ""
    until = ""  # what ends the foreign text we are in: a fence, a closing tag, "blank", "rule", "indent"
    held: _Block | None = None
    in_list = blank = False
    begun = False  # whether a text that ends with a blank line has begun
    at = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.strip()
        if until:
            if until == "blank":
                if bare and not begun:
                    begun = True
                ended = begun and not bare
            elif until == "rule":
                ended = _RULE.fullmatch(bare) is not None
            elif until == "indent":
                ended = bool(bare) and _indent(line) < base + 4
            elif until == "end":
                ended = False
            elif until[0] == "<":
                ended = until in bare.lower()
            else:
                ended = bare.startswith(until) and not bare.strip(until[0])
            if not ended:
                continue
            was, until = until, ""
            if was != "indent":
                blank = True
                continue
        if not bare:
            if held:
                yield held
                held = None
            blank = True
            continue
        foreign = _foreign(bare)
        item = None if foreign else _ITEM.match(bare)
        if not foreign and not item and blank and not in_list and _indent(line) >= base + 4:
            foreign = "indent"
        if foreign:
            if held:
                yield held
                held = None
            until = "" if foreign == "line" else foreign
            begun = foreign == "blank" and not bare.endswith(":")
            blank = False
            continue
        heading = _MARKED.match(bare) if len(bare) < 120 else None
        is_heading = _HEADING.match(bare) is not None
        if is_heading or (heading and (heading["colon"] or heading["more"])):
            if held:
                yield held
                held = None
            in_list = blank = False
            marked = ""
            if heading:
                marked = "constraint" if heading["constraint"] else "decision"
            continue
        if held and not item and _continues(text, held, line):
            held = held._replace(end=at)
        else:
            if held:
                yield held
            if item:
                in_list = True
            elif _indent(line) <= base:
                in_list, marked = False, ""
            begin = start + (line.index(bare[0]) + item.end() if item else 0)
            held = _Block(begin, at, item is not None, marked if item else "")
        blank = False
    if held:
        yield held


def _foreign(bare: str) -> str:
    """What ends the foreign text that this line begins; "line" where it is this line alone, "" where it is "
    "none.
    """
    if bare[0] in "`~-*+0123456789" and (fence := _FENCE.match(bare)):
        marks, info = fence.groups()
        if marks[0] not in info:
            return str(marks)
    if bare[0] == "<" and (tag := _OPEN_TAG.match(bare)):
        closing = f"</{tag.group(1).lower()}>"
        return "line" if closing in bare.lower() else closing
    if _HARNESS.match(bare):
        return "end"
    if bare[0] == ">" or _MACHINE.match(bare):
        return "line"
    if _UNTIL_BLANK.match(bare):
        return "blank"
    if _MAIL.match(bare):
        return "rule"
    if len(bare) < 200 and bare[-1] == ":":
        if _ANNOUNCED_MAIL.match(bare):
            return "rule"
        if _ANNOUNCED.match(bare):
            return "blank"
    return ""


def _continues(text: str, held: _Block, line: str) -> bool:
    """Whether `line` goes on with what was held: under a list item, or after a long line without an end."""
    if held.item and line[0] in " \t":
        return True
    last = text[max(held.start, held.end - 2 * _WRAP) : held.end].rstrip()
    last = last[last.rfind("\n") + 1 :].strip()
    if len(last) < _WRAP or last[-1] in ".!?:;…":
        return False
    first = line.lstrip()[:1]
    return first.islower() or first.isdigit() or _LEAN.search(last) is not None


def _indent(line: str) -> int:
    return len(line[:80].expandtabs(4)) - len(line[:80].expandtabs(4).lstrip())


def _indent_of_all(text: str) -> int:
    """The indentation that all lines share; the first may stand outside, as in a docstring."""
    lines = [line for line in text.splitlines()[1:] if line.strip()]
    return min(map(_indent, lines), default=0)
