"""A cell of `%%ethang` and its live view, in JupyterLab and in Notebook 7."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.jupyterpage import JupyterPage
from tests.browser.liveview import STOPS_IN, LiveView
from tests.browser.workshop import LOAD, LONG, SHORT, kinds, notebook


@pytest.fixture(params=["lab", "notebook7"])
def jupyter(request, tab):
    server = request.getfixturevalue(request.param)
    return JupyterPage(tab, server, {"lab": "lab/tree", "notebook7": "notebooks"}[request.param])


def test_the_view_stands_there_before_the_run_fills_while_it_goes_on_and_stops_it(jupyter, shots):
    folder = jupyter.server.folder / "stop"
    jupyter.open(notebook(folder, "stop", LOAD, LONG, "after = 1"))
    jupyter.run(0)
    jupyter.start(1)
    view = LiveView(jupyter.view(1))
    view.root.wait_for()
    assert "reply" not in kinds(folder, "stop")
    for _ in range(2):
        before, after = view.grows()
        assert before != after
    assert jupyter.running(1)
    shots.take(jupyter.page, "live", jupyter.kind.replace("/", "-"))
    assert view.stop(folder, "stop") < STOPS_IN
    jupyter.finish(1)
    expect(view.button("^stop")).not_to_be_visible()
    expect(jupyter.outputs(1)).to_contain_text(re.compile("interrupted", re.IGNORECASE))
    # What stands below the cell is the live view and the run, and nothing else.
    assert 2 == jupyter.outputs(1).locator(".jp-OutputArea-child").count()
    jupyter.run(2)


def test_a_view_says_that_its_kernel_is_gone_and_a_reopened_notebook_still_shows_the_numbers(jupyter):
    folder = jupyter.server.folder / "reopen"
    path = notebook(folder, "reopen", LOAD, SHORT)
    jupyter.open(path)
    jupyter.run(0, 1)
    view = LiveView(jupyter.view(1))
    fill = jupyter.value("eth.open_session('reopen').budget.fill / 10")
    view.shows_fill(fill)
    jupyter.save()
    saved = nbformat.read(path, 4)
    nbformat.validate(saved)

    jupyter.restart()
    view.says("kernel")
    # The numbers stay, as what was; nothing that needs the kernel is offered as if it could be done.
    assert fill == view.fill
    expect(view.button("^stop")).not_to_be_visible()

    jupyter.shut_down()
    jupyter.open(path)
    jupyter.outputs(1).get_by_text("Context at the end").click()
    jupyter.view(1).wait_for()
    assert fill == LiveView(jupyter.view(1)).fill
    expect(jupyter.outputs(1)).not_to_contain_text(re.compile("model not found"))
    expect(jupyter.outputs(1)).to_contain_text("rested four times", use_inner_text=True)
