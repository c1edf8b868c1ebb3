"""What is built is whole: a wheel works with no node, no network and no checkout beside it."""

import email
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.conftest import STRICT
from tests.isolation import real_home

ROOT = Path(__file__).parent.parent
RANKS = json.loads((ROOT / "ethang_nb" / "tokens" / "ranks.json").read_text())
LABEXTENSION = "share/jupyter/labextensions/ethang-nb"


@pytest.fixture(scope="module")
def tracked():
    """What git holds or would hold, by its path from the root."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, tracked):
    """A wheel from a copy of what git would hold, built the way an installer builds it."""
    if not STRICT:
        pytest.skip("builds a wheel from nothing, front end included, about a minute: ETHANG_STRICT=1")
    folder = tmp_path_factory.mktemp("packaging")
    for name in tracked:
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / "source" / name)
    # The build's caches lie in the home of whoever runs the tests; the tests' own is empty.
    subprocess.run(
        [_uv(), "build", "--wheel", "--out-dir", str(folder / "dist"), str(folder / "source")],
        env={**os.environ, "HOME": real_home()},
        check=True,
        timeout=280,
    )
    with zipfile.ZipFile(next((folder / "dist").glob("*.whl"))) as archive:
        yield archive


@pytest.mark.parametrize("encoding", RANKS)
def test_the_wheel_holds_the_published_ranks(wheel, encoding):
    content = wheel.read(f"ethang_nb/data/tiktoken/{RANKS[encoding]['file']}")
    assert RANKS[encoding]["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    "name",
    [
        "ethang_nb/__init__.py",
        "ethang_nb/py.typed",
        "ethang_nb/tokens/ranks.json",
        "ethang_nb/labextension/package.json",
        f".data/data/{LABEXTENSION}/package.json",
        f".data/data/{LABEXTENSION}/install.json",
        f".data/data/{LABEXTENSION}/schemas/ethang-nb/panel.json",
        "ethang_nb/static/page.js",
        "ethang_nb/static/widget.css",
        "ethang_nb/static/widget.js",
    ],
)
def test_the_wheel_holds(wheel, name):
    assert any(member.endswith(name) for member in wheel.namelist())


def test_the_wheel_holds_every_tracked_file_of_the_package(wheel, tracked):
    """Prompts, schemas and whatever else lies beside the modules."""
    assert set() == {name for name in tracked if name.startswith("ethang_nb/")} - set(wheel.namelist())


def test_the_wheel_holds_nothing_but_the_package(wheel):
    """No tests, no sources of the front end, no leftovers of a build."""
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {"ethang_nb"} == {top for top in tops if not top.startswith("ethang_nb-")}
    assert not any("node_modules" in name or name.endswith((".part", ".pyc")) for name in wheel.namelist())


def test_the_front_end_is_the_production_build(wheel):
    name = next(name for name in wheel.namelist() if name.endswith(f"{LABEXTENSION}/package.json"))
    assert json.loads(wheel.read(name))["jupyterlab"]["_build"]["load"].startswith("static/remoteEntry")


def test_the_wheel_says_what_it_is(wheel):
    name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))
    assert ("ethang_nb", "MIT") == (metadata["Name"], metadata["License-Expression"])
    entry = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "ethang-nb = ethang_nb.cli.main:main" in wheel.read(entry).decode()


def test_versions_agree():
    """The Python package, the front end and the installed one are of one version."""
    front = json.loads((ROOT / "labextension" / "package.json").read_text())["version"]
    assert front == version("ethang_nb")


def test_the_front_end_locks_name_no_registry():
    """A lock with addresses in it works only where it was made."""
    lock = json.loads((ROOT / "labextension" / "package-lock.json").read_text())
    assert [] == [name for name, entry in lock["packages"].items() if "resolved" in entry]


def test_the_labextension_is_installed():
    """`uv sync` alone puts the extension where JupyterLab looks."""
    assert (Path(sys.prefix) / LABEXTENSION / "package.json").is_file()


def _uv():
    # `uv run` tells its own path, which need not be on PATH.
    return os.environ.get("UV") or shutil.which("uv") or pytest.skip("uv is not installed")
