import pytest

import ethang_nb as eth
from tests.agent import stage


@pytest.fixture(autouse=True)
def no_home(monkeypatch):
    """Each session records in its own folder."""
    monkeypatch.delenv("ETHANG_HOME", raising=False)


@pytest.fixture
def opened(tmp_path):
    """Makes sessions over `tmp_path`, and closes them at the end."""
    made = []

    def make(model="reader", *, name="t", window=stage.WINDOW, root=tmp_path, **options):
        made.append(eth.Session(model, name=name, window=window, root=root, **options))
        return made[-1]

    yield make
    for session in made:
        session.close()


@pytest.fixture
def play(tmp_path, opened):
    """A session that plays these turns."""

    def make(*turns, settings=None, **options):
        return opened(stage.script(tmp_path, *turns, **(settings or {})), **options)

    return make
