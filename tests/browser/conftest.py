"""One browser and one server of each kind for the tests here; a page of its own for each test."""

from importlib.util import find_spec

import pytest

from tests.browser import chromium, servers
from tests.browser.console import Console
from tests.browser.shots import Shots

# Test modules here import it; tests/test_frontend.py says that they were left out, and fails where nothing may be.
collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]


def _needs(module):
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed: `uv sync --group browser`")


@pytest.fixture(scope="package")
def browser():
    _needs("playwright")
    path = chromium.executable()
    if path is None:
        pytest.skip(chromium.ABSENT)
    with chromium.started(path) as found:
        yield found


@pytest.fixture(scope="package")
def shots(tmp_path_factory):
    return Shots(tmp_path_factory.getbasetemp() / "shots")


@pytest.fixture
def tab(browser, shots, request):
    """A page of its own context. What it complains about fails the test, and its last state is kept as a picture."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(30_000)
    page = context.new_page()
    console = Console(page)
    yield page
    shots.take(page, request.node.name)
    context.close()
    assert not console.errors, "\n".join(console.errors)


@pytest.fixture(scope="package")
def lab(tmp_path_factory):
    server = servers.jupyter("jupyterlab", tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="package")
def notebook7(tmp_path_factory):
    _needs("notebook")
    server = servers.jupyter("notebook", tmp_path_factory.mktemp("notebook7"))
    yield server
    server.stop()
