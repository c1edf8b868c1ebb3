"""Servers to look at: JupyterLab and Notebook 7, each with homes of its own on a free port of 127.0.0.1."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

PATIENCE = 60  # seconds for a start on a busy machine
_HOMES = (
    "HOME",
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
)
# A popup that asks whether to fetch news would lie over the page.
_QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}


class Server:
    """A server process; its output goes to `log`."""

    def __init__(self, command, *, folder, ready, environment=None):
        self.folder = Path(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = self.folder.parent / f"{self.folder.name}.log"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                command(self.port),
                cwd=self.folder,
                env=environment or dict(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._wait(f"{self.url}{ready}")

    def _wait(self, address):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self._process.poll() is None, self.log.read_text()
            try:
                with urllib.request.urlopen(address, timeout=2):
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError(f"no answer from {address} in {PATIENCE} s\n{self.log.read_text()}")

    def stop(self):
        """Ends the process; a Jupyter server ends its kernels first."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(5)


def jupyter(module, folder):
    """`python -m jupyterlab` or `python -m notebook` on `folder`, with nobody's settings."""
    homes = {name: folder.parent / f"{folder.name}-homes" / name.lower() for name in _HOMES}
    for path in homes.values():
        path.mkdir(parents=True)
    _settings(homes["JUPYTERLAB_SETTINGS_DIR"], "@jupyterlab/apputils-extension/notification", _QUIET)
    # The record lies in the folder of the notebooks, where a test can look into it.
    outside = {name: value for name, value in os.environ.items() if name != "ETHANG_HOME"}
    return Server(
        lambda port: _command(module, port, folder),
        folder=folder,
        ready="/api",
        environment=outside | {name: str(path) for name, path in homes.items()},
    )


def _command(module, port, folder):
    return [
        *(sys.executable, "-m", module, "--no-browser", "--allow-root", "--expose-app-in-browser"),
        *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"),
        f"--ServerApp.root_dir={folder}",
    ]


def _settings(folder, name, values):
    path = folder / f"{name}.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
