"""An independent implementation of the same encodings, which the counts are compared with."""

import pytest


def peer(encoding):
    """bpe-openai's counter: another regex engine, another way of merging, no limit of length."""
    bindings = pytest.importorskip(
        "bpe_openai._bindings", reason="needs the peer tokenizer: uv sync --group peers"
    )
    return bindings.tokenizer_for_encoding(encoding)
