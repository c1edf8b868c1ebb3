"""What nbval does not look at: that a notebook is saved as everybody would save it."""

from pathlib import Path

import nbformat
import pytest

from tests import notebooks

FOUND = sorted(notebooks.FOLDER.rglob("*.ipynb"))
STORED = 50_000  # bytes of one output


@pytest.fixture(params=FOUND, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def test_there_are_notebooks():
    assert FOUND


def test_nothing_of_the_machine_or_the_front_end_is_saved(notebook, request):
    """Run `python tests/notebooks.py` where this fails."""
    path = next(path for path in FOUND if path.stem in request.node.name)
    assert notebooks.text(notebooks.normal(notebook)) == Path(path).read_text(encoding="utf-8")
    assert "widgets" not in notebook.metadata
    assert "python3" == notebook.metadata.kernelspec.name


def test_every_cell_ran_from_top_to_bottom_and_none_failed(notebook):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert list(range(1, len(cells) + 1)) == [cell.execution_count for cell in cells]
    assert [] == [cell.source for cell in cells for output in cell.outputs if output.output_type == "error"]


def test_no_output_is_larger_than_a_stored_output_may_be(notebook):
    sizes = [len(str(output).encode()) for cell in notebook.cells for output in cell.get("outputs", ())]
    assert max(sizes) <= STORED


def test_begins_with_a_title_and_a_goal_and_ends_with_something_to_try(notebook):
    first, *_, last = notebook.cells
    assert first.source.startswith("# ")
    assert "**Goal.**" in first.source
    assert last.source.startswith("## Try changing")
