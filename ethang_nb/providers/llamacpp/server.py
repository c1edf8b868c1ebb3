"""Servers of llama.cpp in this process: one for each model and its options, shared, stopped when nobody holds it.

They listen on loopback alone, with a key that is made anew in each process. The file is judged first, and the model is
tried out in a process of its own: what ends that one must not end the kernel. While llama.cpp loads or stops in here it
holds Python's lock, so everything else waits.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import re
import secrets
import subprocess
import sys
import threading
import weakref
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ethang_nb.errors import Missing, Misuse, PathRefused, ProviderFault
from ethang_nb.providers.endpoints import credentials
from ethang_nb.providers.llamacpp import load as llama_load
from ethang_nb.providers.llamacpp.gguf import head_of
from ethang_nb.providers.llamacpp.options import Wanted

__all__ = ["LlamaServer", "hold", "key", "release"]

USUAL = (
    8_192  # ► tokens of context where nobody asks for more: its memory is taken at once, whether used or not
)
PATIENCE = 60  # ► seconds for trying out a model, and one more for every so many bytes of it:
BYTES_A_SECOND = 20_000_000  # ►
TEMPLATE = 200_000  # ► bytes of a chat template
ASKED = 10.0  # ► seconds for a server that is up to say how large its window is

LOOKED = 0
"""Stands for the holder of a server that was started only to be asked for its window."""

_ERROR = re.compile(r"^[\d.]+ E (?:\w+ +)?[\w ]+?: (.*)", re.M)


class LlamaServer:
    """A server. After `start`: `address` without a path, `window` in tokens, `takes_tools` as its template does."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.address, self.window, self.takes_tools = "", 0, False
        self.held: set[int] = set()
        self._server: Any = None
        self._lock = threading.RLock()

    def start(self) -> None:
        """Loads the model unless it is there. Raises Missing, PathRefused, Misuse, ProviderFault."""
        with self._lock:
            if self._server is None:
                self._load()
        if not self.held:  # everybody has left meanwhile, and could not wait for the lock
            self.stop()

    def stop(self) -> None:
        """Stops the server; one that is loading stops when it has loaded."""
        if self._lock.acquire(blocking=False):
            try:
                self._server = None
            finally:
                self._lock.release()

    def leak(self) -> None:
        """After a fork: the threads of the server are not in this process; to wait for them would last forever."""
        if self._server is not None:
            _leak(self._server)

    def _load(self) -> None:
        options = _options(self.wanted)
        _try_out(self.wanted, options)
        try:
            server = llama_load.load(options)
        except RuntimeError:
            raise ProviderFault(f"llama.cpp could not load {self.wanted.name}; ask again") from None
        try:
            self.address = server.listening_address
            self._ask()
        except BaseException:
            _leak(server)
            raise
        self._server = server

    def _ask(self) -> None:
        """What the server says of itself; after this it may be stopped."""
        from ethang_nb.providers.http.line import get_json

        headers = {"authorization": f"Bearer {key()}"}
        props = get_json(f"{self.address}/props", headers, ASKED)
        self.window = int(props["default_generation_settings"]["n_ctx"])
        self.takes_tools = bool(props.get("chat_template_caps", {}).get("supports_tools"))
        # Answered by the server's main loop. A server that is stopped before this has begun would never end.
        get_json(f"{self.address}/slots", headers, ASKED)


def _leak(server: Any) -> None:
    """Lets go of a server that must not be stopped, as that would wait forever."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))


_servers: dict[Wanted, LlamaServer] = {}
_lock = threading.RLock()
_ended = False


def hold(wanted: Wanted, holder: object = None) -> LlamaServer:
    """The server for `wanted`, up and held by `holder` until it is released or gone. Raises as `start` does.

    Without a holder it is there for the next one, or until this process ends.
    """
    mark = LOOKED if holder is None else id(holder)
    with _lock:
        _refuse_at_the_end()
        server = _servers.setdefault(wanted, LlamaServer(wanted))
        if mark not in server.held and holder is not None:
            weakref.finalize(holder, _release, wanted, mark).atexit = False
        server.held.add(mark)
    try:
        server.start()
    except BaseException:
        _release(wanted, mark)
        raise
    return server


def release(wanted: Wanted, holder: object) -> None:
    """Lets go of a server; the last to do so stops it."""
    _release(wanted, id(holder))


@cache
def key() -> str:
    """What all servers of this process ask for."""
    made = secrets.token_urlsafe(32)
    credentials.hide("llamacpp key", made)
    return made


def _release(wanted: Wanted, mark: int) -> None:
    with _lock:
        server = _servers.get(wanted)
        if server is None or mark not in server.held:
            return
        server.held.discard(mark)
        if server.held - {LOOKED}:
            return
        del _servers[wanted]
    server.stop()


# ---- before it is loaded


def _options(wanted: Wanted) -> dict[str, Any]:
    if find_spec("xllamacpp") is None:
        raise Missing(
            f"llamacpp/{wanted.name} needs the package xllamacpp, which is not here; pip install 'ethang_nb[local]'"
        )
    trained = head_of(Path(wanted.path), wanted.path).context
    if trained is not None and (wanted.ctx or 0) > trained:
        raise Misuse(
            f"option ctx={wanted.ctx:,} of llamacpp: {wanted.name} was trained for {trained:,} tokens; give no more"
        )
    return {
        "path": wanted.path,
        "name": wanted.name,
        "ctx": wanted.ctx or min(trained or USUAL, USUAL),
        "threads": wanted.threads,
        "template": _template(wanted.template) if wanted.template else "",
        "seed": wanted.seed,
        "key": key(),
    }


def _template(path: str) -> str:
    try:
        raw = Path(path).read_bytes()
        if not raw.strip() or len(raw) > TEMPLATE:
            raise PathRefused(
                f"template {path} has {len(raw):,} bytes; give a Jinja file of 1 to {TEMPLATE:,}"
            )
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise PathRefused(f"template {path} is no UTF-8 text; give a Jinja file") from None
    except OSError as error:
        raise PathRefused(f"template {path} cannot be read: {error.strerror}; give a Jinja file") from None


_proved: set[tuple[Wanted, str, int, int]] = set()


def _try_out(wanted: Wanted, options: dict[str, Any]) -> None:
    """Loads the model in a process of its own, once for each state of its file. Raises ProviderFault."""
    state = Path(wanted.path).stat()
    proof = (wanted, options["template"], state.st_size, state.st_mtime_ns)
    if proof in _proved or not sys.executable:
        return
    seconds = PATIENCE + state.st_size // BYTES_A_SECOND
    try:
        tried = subprocess.run(
            [sys.executable, "-P", llama_load.__file__],
            input=json.dumps({**options, "key": secrets.token_urlsafe(32)}).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # Without that a loader that aborts calls a debugger first.
            env={
                **os.environ,
                "GGML_NO_BACKTRACE": "1",
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ProviderFault(
            f"llama.cpp did not get to the end of {wanted.name} within {seconds} s; if it is damaged, fetch it anew"
        ) from None
    except OSError as error:
        raise ProviderFault(
            f"no process could be started to try out {wanted.name}: {error.strerror}"
        ) from None
    if tried.returncode:
        raise ProviderFault(_why(wanted.name, tried.returncode, tried.stderr.decode("utf-8", "replace")))
    _proved.add(proof)


def _why(name: str, code: int, said: str) -> str:
    """What went wrong in the trial, in llama.cpp's first words on it."""
    first = _ERROR.search(said)
    words = " ".join((first[1] if first else said.strip().rpartition("\n")[2]).split())[:300]
    if code < 0:
        words = f"it ended by signal {-code}, as for want of memory" + (f" ({words})" if words else "")
    hint = "mend the template" if "template" in said else "fetch the file anew, or give a smaller ctx"
    return f"llama.cpp cannot load {name}: {words or 'it does not say why'}; {hint}"


# ---- the end of the process


def _refuse_at_the_end() -> None:
    if _ended:
        raise ProviderFault("this process is ending; no model is loaded any more")


@atexit.register
def _end() -> None:
    """Stops all servers: at exit a server that still runs would crash the process."""
    global _ended  # noqa: PLW0603
    with _lock:
        _ended = True
        for server in _servers.values():
            server.stop()
        _servers.clear()


def _forget() -> None:
    """In a forked process: what it inherited has no threads.

    Such a process ends by `os._exit`, as those of multiprocessing do: what llama.cpp itself does at exit waits for
    threads that are not there.
    """
    global _lock  # noqa: PLW0603
    _lock = threading.RLock()
    for server in _servers.values():
        server.leak()
    _servers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
