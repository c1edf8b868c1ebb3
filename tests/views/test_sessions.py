"""Sessions: one row each, with the columns that the rows carry."""

from dataclasses import dataclass

from ethang_nb.store.record import SessionRow
from ethang_nb.views import sessions
from ethang_nb.views.limits import OUTPUT_BYTES
from tests.views.reading import Reading


def row(name, *, running=False):
    return SessionRow(name=name, events=1_204, created=1.0, last=2.0, running=running, bytes=123_456)


def test_the_text_is_this():
    assert sessions.text((row("contracts", running=True), row("notes"))) == (
        "2 sessions:\n"
        "  session    state   events   kB\n"
        "  contracts  open     1,204  124\n"
        "  notes      closed   1,204  124"
    )


def test_who_knows_more_than_the_record_says_it():
    states = {"contracts": "open elsewhere"}
    rows = (row("contracts", running=True), row("notes"))
    assert "contracts  open elsewhere   1,204" in sessions.text(rows, states=states)
    assert "open elsewhere" in sessions.html(rows, states=states)


def test_an_empty_record_says_so():
    assert sessions.text(()) == "No sessions in this record yet."
    assert "No sessions in this record yet." in sessions.html(())


def test_times_are_not_shown():
    """The same record always looks the same."""
    assert sessions.html((row("a"),)) == sessions.html(
        (SessionRow(name="a", events=1_204, created=5.0, last=None, running=False, bytes=123_456),)
    )


def test_other_columns_are_drawn_where_rows_have_them():
    @dataclass
    class Row:
        name: str
        fill: int
        model: str

    assert "68.4 %" in sessions.text((Row("a", 684, "reader"),))


def test_html_is_a_table_with_headings():
    read = Reading(sessions.html([row(f"<b>{at}</b>") for at in range(500)]))
    assert not read.faults
    assert "b" not in read.tags
    assert "… 460 more; see eth.sessions()[10:470]" in read.text


def test_many_sessions_stay_a_small_output():
    assert len(sessions.html([row("&" * 500)] * 500).encode()) < OUTPUT_BYTES
