"""Sessions for the tests of the live side, made as those of the agent's tests."""

import pytest

import ethang_nb as eth
from tests.agent.conftest import opened, play  # noqa: F401 - fixtures
from tests.agent.stage import TASK, documents


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    """A session with cleanups behind it, for asks that change nothing."""
    folder = documents(tmp_path_factory.mktemp("worked"))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ETHANG_HOME", raising=False)
        session = eth.Session("reader?nudge=ignore", name="t", window=2_700, root=folder)
    assert session.run(TASK).ok
    yield session
    session.close()
