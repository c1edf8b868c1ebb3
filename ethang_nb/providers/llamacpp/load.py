"""Loading a model into llama.cpp's server: the only place that touches xllamacpp.

What it cannot read it may end the whole process for, or never come back from; so this file is also a script that tries
the same out in a process of its own. It imports nothing but the standard library, to start quickly.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["load"]

PING = 1  # ► seconds between two heartbeats in a stream; the server cannot be stopped between them
BATCH = 512  # ► tokens read at once; between two batches it is seen that nobody waits for the answer any more
CACHE = 256  # ► MiB of memory for what other conversations had read; 8 GiB is llama.cpp's own


def load(options: Mapping[str, Any], *, verbosity: int = 0) -> Any:
    """A server that listens; it stops when it is let go of. Raises ImportError, RuntimeError where it cannot load.

    `options`: path, name, ctx, threads, template (its text), seed (None: any), key.
    """
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = options["path"]
    params.model_alias = {options["name"]}
    params.n_ctx = options["ctx"]
    params.n_parallel = 1
    params.n_batch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options["threads"]
    if options["template"]:
        params.chat_template = options["template"]
    if options["seed"] is not None:
        params.sampling.seed = options["seed"]
    params.api_keys = [options["key"]]
    # Pages from elsewhere get no leave to ask. "localhost" is the one word for that: any other is sent as it stands.
    params.cors_origins = "localhost"
    params.ui = False
    params.offline = True
    params.warmup = False
    params.sse_ping_interval = PING
    params.cache_ram_mib = CACHE
    params.verbosity = verbosity
    return xllamacpp.Server(params)


if __name__ == "__main__":
    try:
        server = load(json.loads(sys.stdin.read()), verbosity=1)
    except RuntimeError:
        sys.exit(1)
    os._exit(0)  # a server that is stopped before it has begun to work never ends
