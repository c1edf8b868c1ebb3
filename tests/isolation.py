"""A run of the tests touches nobody's files: homes lie in a folder made for it, set before any kernel starts.

Loaded by pytest as a plug-in (see pyproject.toml), so that it also holds for the notebooks, which lie outside
the folder of conftest.py.
"""

import os
import shutil
import tempfile
from pathlib import Path

# What a session, a kernel or a front end would write to, or read a person's own settings from.
_HOMES = (
    "HOME",
    "ETHANG_HOME",
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
)
# What a run of the tests must not see of whoever starts it: a key would make a test call a real provider, and a setting
# would change what is tested.
_OURS = (
    "ETHANG_MODEL", "ETHANG_WINDOW", "ETHANG_POLICY", "ETHANG_SUMMARISER", "ETHANG_CASSETTE",
    "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION",
)  # fmt: skip
_THEIRS = ("_API_KEY", "_BASE_URL")

_before: dict[str, str | None] = {}


def pytest_configure(config):
    keys = [name for name in os.environ if name.endswith(_THEIRS) or name in _OURS]
    _before.update({name: os.environ.get(name) for name in (*_HOMES, *keys)})
    folder = Path(tempfile.mkdtemp(prefix="ethang-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    for name in _HOMES:
        (folder / name.lower()).mkdir()
        os.environ[name] = str(folder / name.lower())
    for name in keys:
        del os.environ[name]


def pytest_unconfigure():
    for name, value in _before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def real_home() -> str:
    """The HOME of whoever runs the tests, for tools that keep a cache there."""
    return _before["HOME"] or str(Path.home())
