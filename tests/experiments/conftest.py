"""The experiment is run once for all tests that only read it."""

import pytest

import ethang_nb as eth
from ethang_nb.experiments.sources import SourceCounter


@pytest.fixture(scope="session")
def found():
    return eth.delegation()


@pytest.fixture(scope="session")
def counts():
    return SourceCounter(eth.counter("o200k_base"))
