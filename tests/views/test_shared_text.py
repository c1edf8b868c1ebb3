"""Texts and numbers look the same in Python and in the browser: both are held to labextension/tests/hostile.json."""

import json
from pathlib import Path

from ethang_nb.views.numbers import count, grouped, numbered, percent, share
from ethang_nb.views.plain import line, visible

TABLE = json.loads(
    (Path(__file__).parents[2] / "labextension/tests/hostile.json").read_text(encoding="utf-8")
)


def test_hostile_text_is_made_visible_as_the_table_says():
    for row in TABLE["texts"]:
        assert (row["visible"], row["line"]) == (visible(row["text"]), line(row["text"], row["limit"]))


def test_numbers_are_said_as_the_table_says():
    for row in TABLE["numbers"]:
        said = (grouped(row["value"]), percent(row["value"]), count(row["value"], "token"))
        assert (row["grouped"], row["percent"], row["counted"]) == said
    for row in TABLE["shares"]:
        assert row["share"] == share(row["part"], row["whole"])
    for row in TABLE["places"]:
        assert row["numbered"] == numbered(tuple(row["values"]), "step", row["most"])
