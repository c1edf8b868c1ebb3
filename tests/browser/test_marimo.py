"""The widgets in marimo, a host that knows only the anywidget protocol."""

import re
import sys
from importlib.util import find_spec

import pytest
from playwright.sync_api import expect

from tests.browser.liveview import LiveView
from tests.browser.servers import Server

NOTEBOOK = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import ethang_nb as eth

    context = eth.Context(8_000, model="gpt-4o", system="You are a careful clerk.")
    context.append({"role": "user", "content": "Which order is affected? Never open contract_17."})
    view = eth.ContextView(context)
    return context, mo, view


@app.cell
def _(mo, view):
    mo.ui.anywidget(view)
    return


@app.cell
def _(context, mo):
    def append(_):
        context.append({"role": "assistant", "content": "I read the contracts one by one. " * 60})
        context.append({"role": "user", "content": "Go on, and <img src=x onerror='window.p=1'> too."})

    mo.ui.button(label="append two messages", on_click=append)
    return
"""


@pytest.fixture(scope="module")
def marimo(tmp_path_factory):
    if find_spec("marimo") is None:
        pytest.skip("marimo is not installed: `uv sync --group browser`")
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "clerk.py").write_text(NOTEBOOK)
    server = Server(
        lambda port: [
            *(sys.executable, "-m", "marimo", "-q", "run", "clerk.py", "--headless", "--no-token"),
            *("--host", "127.0.0.1", "--port", str(port)),
        ],
        folder=folder,
        ready="/health",
    )
    yield server
    server.stop()


def test_a_view_of_a_context_shows_what_is_appended_later(tab, marimo, shots):
    tab.goto(marimo.url)
    view = LiveView(tab.locator(".eth-live").first)
    view.root.wait_for(timeout=60_000)
    view.root.get_by_role("meter").first.wait_for()
    before = view.fill
    tab.get_by_role("button", name="append two messages").click()
    tab.wait_for_function(
        "([meter, before]) => Number(meter.getAttribute('aria-valuenow')) > before",
        arg=[view.root.get_by_role("meter").first.element_handle(), before],
    )
    segments = view.tab("segments")
    expect(segments).to_contain_text(re.compile("I read the contracts one by one"))
    # An ask and its reply: the text of a segment is only in the kernel.
    segments.get_by_role("row").filter(has_text="I read the contracts").first.click()
    opened = segments.get_by_role("region", name="Opened segment")
    expect(opened).to_contain_text("one by one. I read the contracts one by one. I read")
    assert tab.evaluate("window.p") is None
    shots.take(tab, "marimo")
