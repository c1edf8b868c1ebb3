"""Who may import whom (the contracts in pyproject.toml), and what importing the package costs."""

import ast
import logging
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from importlinter import cli

ROOT = Path(__file__).parent.parent
HEAVY = (
    "IPython",
    "ipywidgets",
    "anywidget",
    "tiktoken",
    "httpx",
    "httpx_sse",
    "stamina",
    "jsonschema",
    "yaml",
    "openai",
)


@pytest.fixture(scope="module")
def imports():
    return grimp.build_graph("ethang_nb", include_external_packages=True, cache_dir=None)


def test_every_arrow_goes_down(monkeypatch, capsys):
    """The contracts hold for the code as it is."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT))
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    for logger in loggers:  # it switches off those that exist, for all tests after this one
        monkeypatch.setattr(logger, "disabled", logger.disabled)
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
    assert [] == loaded("import ethang_nb")


def test_a_session_with_a_stand_in_loads_no_network_and_no_snapshot_of_models(tmp_path):
    """The reader answers a first cell as fast as a kernel without any of it."""
    code = (
        "import ethang_nb; from ethang_nb.providers.models import facts; "
        f"session = ethang_nb.Session('reader', root={str(tmp_path)!r}); session.run('hello'); "
        "session.close(); assert not facts._snapshot.cache_info().currsize"
    )
    assert not {"httpx", "httpx_sse", "stamina", "openai", "IPython"} & set(loaded(code))


def loaded(code):
    """Which of the heavy modules a process has loaded that ran `code`."""
    script = f"{code}; import sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return ast.literal_eval(found.stdout)
