"""The ranks are the published ones, and nothing is fetched or deleted when they are not."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

import ethang_nb
from ethang_nb.errors import RanksMissing, Unknown
from ethang_nb.tokens import ranks

PACKAGE = Path(ethang_nb.__file__).parent
LIST = json.loads((PACKAGE / "tokens" / "ranks.json").read_text())
O200K = LIST["o200k_base"]["file"]


@pytest.fixture
def fresh():
    """No encoding loaded yet, as in a new process."""
    ranks.load.cache_clear()
    yield
    ranks.load.cache_clear()


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was asked for ranks")

    monkeypatch.setattr("tiktoken.load.read_file", refuse)
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})


@pytest.mark.parametrize("encoding", LIST)
def test_the_built_files_are_the_published_ones(encoding):
    content = (PACKAGE / "data" / "tiktoken" / LIST[encoding]["file"]).read_bytes()
    assert LIST[encoding]["bytes"] == len(content)
    assert LIST[encoding]["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("encoding", LIST)
def test_the_list_agrees_with_tiktoken(encoding):
    """File name and hash are what tiktoken itself looks for."""
    import inspect

    import tiktoken_ext.openai_public

    source = inspect.getsource(tiktoken_ext.openai_public)
    address = next(line.split('"')[1] for line in source.splitlines() if f"/{encoding}.tiktoken" in line)
    assert LIST[encoding]["file"] == hashlib.sha1(address.encode()).hexdigest()
    assert LIST[encoding]["sha256"] in source


def test_missing_ranks_are_a_named_error(fresh, no_network, monkeypatch, tmp_path):
    monkeypatch.setattr(ranks, "_OURS", tmp_path / "nowhere")
    with pytest.raises(RanksMissing, match=r"o200k_base .*install again"):
        ranks.load("o200k_base")


def test_damaged_ranks_are_left_alone(fresh, no_network, monkeypatch, tmp_path):
    """tiktoken would delete the file and fetch another."""
    (tmp_path / O200K).write_bytes(b"damaged")
    monkeypatch.setattr(ranks, "_OURS", tmp_path)
    with pytest.raises(RanksMissing):
        ranks.load("o200k_base")
    assert b"damaged" == (tmp_path / O200K).read_bytes()


def test_a_cache_of_the_users_own_is_used(fresh, no_network, monkeypatch, tmp_path):
    shutil.copy(PACKAGE / "data" / "tiktoken" / O200K, tmp_path)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ranks, "_OURS", tmp_path / "nowhere")
    assert 2 == len(ranks.load("o200k_base").encode_ordinary("hello world"))
    assert str(tmp_path) == os.environ["TIKTOKEN_CACHE_DIR"]


def test_a_cache_of_the_users_own_without_ranks_does_no_harm(fresh, no_network, monkeypatch, tmp_path):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert 2 == len(ranks.load("o200k_base").encode_ordinary("hello world"))
    assert [] == list(tmp_path.iterdir())


def test_loading_leaves_the_environment_as_it_was(fresh, no_network, monkeypatch):
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    ranks.load("o200k_base")
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


def test_an_encoding_that_is_not_shipped():
    with pytest.raises(Unknown, match="p50k_base"):
        ranks.load("p50k_base")
