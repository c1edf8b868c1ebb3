"""Runs the notebooks and saves them as the tests want them: outputs of a fresh run, nothing of the machine.

    uv run python tests/notebooks.py [FILE …]      all in notebooks/ where none is named

Cells run as in the tests, with homes of their own; what a front end adds (times, widget state, language details)
is left out, so that a diff shows what changed and nothing else.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).parents[1] / "notebooks"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
KEPT = ("tags",)  # of a cell's metadata
OURS = ("application/vnd.ethang.snapshot+json",)  # of an output's: which view to draw


def executed(notebook, folder):
    """The notebook with the outputs of a fresh kernel that is started in `folder`. Raises what a cell raises."""
    fresh = nbformat.from_dict(notebook)
    nbclient.NotebookClient(
        fresh,
        timeout=60,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
        store_widget_state=False,
    ).execute()
    return normal(fresh)


def normal(notebook):
    """The same without anything that differs between two people who ran it."""
    kept = nbformat.from_dict(notebook)
    kept.metadata = nbformat.from_dict(METADATA)
    kept.nbformat, kept.nbformat_minor = 4, 5
    for number, cell in enumerate(kept.cells, 1):
        cell.id = f"cell-{number:02}"
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in KEPT if key in cell.metadata})
        for output in cell.get("outputs", ()):
            if "metadata" in output:
                kept_metadata = {key: value for key, value in output.metadata.items() if key in OURS}
                output.metadata = nbformat.from_dict(kept_metadata)
    return kept


def text(notebook):
    return nbformat.writes(notebook) + "\n"


def main(names):
    with tempfile.TemporaryDirectory() as home:
        for name in ("HOME", "ETHANG_HOME", "IPYTHONDIR"):
            folder = Path(home, name.lower())
            folder.mkdir()
            os.environ[name] = str(folder)
        for path in [Path(name) for name in names] or sorted(FOLDER.rglob("*.ipynb")):
            notebook = nbformat.read(path, as_version=4)
            path.write_bytes(text(executed(notebook, path.parent)).encode())
            print(f"{path}: {len(notebook.cells)} cells")


if __name__ == "__main__":
    main(sys.argv[1:])
