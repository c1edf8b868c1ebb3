"""Limits of what is shown and stored, in one place. All are our choice (►), in characters, bytes or rows."""

from __future__ import annotations

__all__ = [
    "ADDRESS",
    "ANSWER",
    "ANSWER_REPORT",
    "BODY_BYTES",
    "DATA_BYTES",
    "DATA_LEAST",
    "FACTS",
    "FACTS_REPORT",
    "NOTE_REPORT",
    "OPEN_ROWS",
    "OUTPUT_BYTES",
    "PAGE_TEXT",
    "PAGE_TEXTS",
    "PREVIEW",
    "ROWS",
    "ROWS_REPORT",
    "STYLE_BYTES",
    "TITLE",
    "WORKED_OUT",
]

OUTPUT_BYTES = 50_000  # ► one stored output of a cell
STYLE_BYTES = 6_000  # ► the style sheet inside it
BODY_BYTES = OUTPUT_BYTES - STYLE_BYTES - 1_500  # what is left for everything but the sheet and its box
DATA_BYTES = 18_000  # ► the snapshot as data inside it, written as a notebook file writes it
DATA_LEAST = 12_000  # ► what text and HTML leave to it
PREVIEW = 200  # ► characters of any text of the conversation that a notebook stores
TITLE = 120  # ► characters of a segment's title
ADDRESS = 160  # ► characters of an address; longer ones are cut
ANSWER = 8_000  # ► characters of a run's answer in a stored output
ANSWER_REPORT = 200_000  # ► the same in a report
NOTE_REPORT = 60_000  # ► characters of a handoff note in a report
OPEN_ROWS = 20  # ► a table of up to so many rows stands open where it is all that was asked for
ROWS = 40  # ► rows of a table in a stored output
ROWS_REPORT = 1_000  # ► rows of a table in a report
FACTS = 12  # ► facts of one fate in a stored output
FACTS_REPORT = 200  # ► the same in a report
PAGE_TEXT = 20_000  # ► characters of one segment's text in an interactive page
PAGE_TEXTS = 2_000_000  # ► characters of all of them together
WORKED_OUT = (
    2_000  # ► segments up to which a stored output says what the next cleanup does to each: 0.1 ms a segment
)
