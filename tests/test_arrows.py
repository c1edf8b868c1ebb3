"""Who may import whom (the contracts in pyproject.toml), and what importing the package costs."""

import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from importlinter import cli

ROOT = Path(__file__).parent.parent
HEAVY = ("IPython", "ipywidgets", "anywidget", "tiktoken", "httpx", "jsonschema", "yaml")


@pytest.fixture(scope="module")
def imports():
    return grimp.build_graph("ethang_nb", include_external_packages=True, cache_dir=None)


def test_every_arrow_goes_down(monkeypatch, capsys):
    """The contracts hold for the code as it is."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT))
    outcome = cli.lint_imports(no_cache=True, is_debug_mode=False)
    assert outcome == cli.EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_the_pure_room_knows_the_standard_library_only(imports):
    """The contract lists libraries by name; this holds for those nobody thought of."""
    ours = {"ethang_nb.errors", "ethang_nb.clock", "ethang_nb._show"}
    rooms = {module for module in imports.modules if f"{module}.".startswith("ethang_nb.context.")}
    strangers = {
        f"{room} -> {found}"
        for room in rooms
        for found in imports.find_modules_directly_imported_by(room) - rooms - ours
        if found.partition(".")[0] not in sys.stdlib_module_names
    }
    assert set() == strangers


def test_importing_the_package_loads_nothing_heavy():
    """A script that only plans pays for no notebook, tokenizer, HTTP client or parser."""
    code = f"import sys, ethang_nb; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == found.stdout.strip()
