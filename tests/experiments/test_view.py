"""The experiment as people see it: 80 columns, HTML that needs neither style nor script, and what it does not show."""

import re
from dataclasses import replace

from ethang_nb.views.delegation import QUALITY, text
from ethang_nb.views.limits import OUTPUT_BYTES
from ethang_nb.views.plain import WIDTH, cells
from tests.views.reading import Reading

SEED_ROWS = """\
naive trim          31  101,114  106,391   97.9 %  59.5 %   60,157      no    no
compaction        31+2   69,539   77,510   69.2 %  86.5 %   27,649      no    no
sub-agent        31+30   12,018   25,795   13.4 %  82.4 %   17,847     yes   yes
"""


def test_the_print_is_the_experiment(found):
    said = str(found)
    assert said == text(found)
    assert said.startswith("30 documents, one question: what stays in view, and what it takes.\n")
    assert SEED_ROWS in said


def test_every_line_keeps_to_a_terminal(found):
    assert max(cells(line) for line in str(found).split("\n")) <= WIDTH


def test_table_and_chart_say_what_is_measured(found):
    said = " ".join(str(found).split())
    read = Reading(found._repr_html_())
    for shown in (said, read.text):
        assert shown.count(QUALITY) >= 2
        assert "String survival is an upper bound" in shown


def test_every_row_and_every_setting_is_said_in_both_forms(found):
    said, read = str(found), Reading(found._repr_html_())
    for _, about in found.settings:
        assert about in " ".join(said.split()) and about in read.text
    for row in found.measured:
        assert f"{row.all_in:,}" in said and f"{row.all_in:,}" in read.text
        assert row.about in " ".join(said.split()) and row.about in read.text


def test_html_makes_sense_without_style_and_script(found):
    html = found._repr_html_()
    read = Reading(html)
    assert not read.faults
    assert "script" not in read.tags
    plain = Reading(re.sub(r' style="[^"]*"| class="[^"]*"', "", html))
    assert plain.text == read.text
    assert "naive trim 31 101,114 106,391 97.9 % 59.5 % 60,157 no no" in " ".join(
        " ".join(read.texts).split()
    )


def test_html_is_small(found):
    assert len(found._repr_html_().encode()) < OUTPUT_BYTES


def test_bars_are_to_scale(found):
    """The longest is the whole; a bar's two parts are the thread and its helpers."""
    widths = [
        float(width)
        for width in re.findall(r'<i class="eth-c-\w+" style="width:([\d.]+)%"', found._repr_html_())
    ]
    bare = [row for row in found.measured if row.setting == "bare"]
    assert len(widths) == len(bare) + sum(row.helpers > 0 for row in bare)
    assert max(widths) == 100.0
    whole = sum(widths)
    assert abs(whole - 100 * sum(row.all_in for row in bare) / max(row.all_in for row in bare)) < 2


def test_a_name_from_outside_stays_text(found):
    odd = replace(found.measured[0], configuration="<b>bold</b>\x1b[31m", about="<script>alert(1)</script>")
    read = Reading(replace(found, measured=(odd,))._repr_html_())
    assert "script" not in read.tags and "b" not in read.tags
    assert "\x1b" not in read.text and "\x1b" not in str(replace(found, measured=(odd,)))
