"""Which views belong to which cell: running cells again and again leaves no more of them, and blanks none."""

import pytest

from ethang_nb.views.widgets.cells import Cells, Running, running


class View:
    def __init__(self, cells):
        self.cells, self.closed = cells, False

    def close(self):
        self.closed = True
        self.cells.forget(self)


@pytest.fixture
def cells():
    return Cells()


@pytest.fixture
def run(cells):
    """Runs a cell in which these views are made or shown."""
    numbers = iter(range(1_000))

    def run(cell, *views, deleted=()):
        number = str(next(numbers))
        for view in views:
            cells.hold(view, Running(cell=cell, run=number, deleted=deleted))

    return run


def test_a_cell_that_runs_again_closes_what_its_last_run_made(cells, run):
    made = [View(cells) for _ in range(50)]
    for view in made:
        run("a", view, view)
    assert [True] * 49 + [False] == [view.closed for view in made]
    assert 1 == sum(len(held.views) for held in cells._held.values())


def test_several_views_of_one_run_stay(cells, run):
    first, second = View(cells), View(cells)
    run("a", first, second, first)
    assert not first.closed and not second.closed
    run("a", View(cells))
    assert first.closed and second.closed


def test_a_view_that_another_cell_still_shows_stays(cells, run):
    view = View(cells)
    run("a", view)
    run("b", view)
    run("a", View(cells))
    assert not view.closed
    run("b", View(cells))
    assert view.closed


def test_a_cell_that_shows_the_same_view_again_keeps_it(cells, run):
    view = View(cells)
    run("a", view)
    run("a", view)
    assert not view.closed


def test_a_view_stays_while_the_cell_that_made_it_was_not_run_again(cells, run):
    view, other = View(cells), View(cells)
    run("a", view)  # makes it and shows it elsewhere
    run("b", view)
    run("b", other)
    assert not view.closed


def test_a_deleted_cell_holds_nothing(cells, run):
    view = View(cells)
    run("a", view)
    run("b", View(cells), deleted=("a", "z"))
    assert view.closed


def test_a_closed_view_is_forgotten(cells, run):
    view = View(cells)
    run("a", view)
    view.close()
    assert [] == cells._held["a"].views


def test_outside_of_a_kernel_nothing_is_held(cells):
    assert running() is None
    cells.hold(View(cells), None)
    assert {} == cells._held
