"""Several views of one session in JupyterLab: in step, apart when closed, and never more of them than shown."""

import pytest

from tests.browser.jupyterpage import JupyterPage
from tests.browser.liveview import LiveView
from tests.browser.workshop import LOAD, SHORT, notebook

SHOW = """from IPython.display import display
view = eth.ContextView(eth.open_session("views"))
display(view)
display(view)"""
SAY = "eth.open_session('views').pin('Keep the blue folder closed.')\nNone"


@pytest.fixture
def jupyter(tab, lab):
    return JupyterPage(tab, lab, "lab/tree")


def test_two_views_of_one_widget_stay_in_step_and_closing_one_leaves_the_other(jupyter):
    folder = jupyter.server.folder / "views"
    # Tall enough for all of it: a view that nobody sees is drawn again when somebody does.
    jupyter.page.set_viewport_size({"width": 1280, "height": 5_000})
    jupyter.open(notebook(folder, "views", LOAD, SHORT, SHOW, SAY, SHORT.replace("four", "4")))
    jupyter.run(0, 1, 2)
    views = jupyter.views(2)
    views.nth(1).wait_for()
    assert 2 == views.count()
    first, second = LiveView(views.nth(0)), LiveView(views.nth(1))
    assert first.fill == second.fill
    before = first.fill
    jupyter.run(4)
    fill = jupyter.value("eth.open_session('views').budget.fill / 10")
    assert before != fill
    first.shows_fill(fill)
    second.shows_fill(fill)
    # Closing a view: its output goes.
    jupyter.page.evaluate(
        """() => { const cell = window.jupyterapp.shell.currentWidget.content.widgets[2];
             cell.outputArea.widgets[0].dispose(); }"""
    )
    assert 1 == views.count()
    jupyter.run(3)
    LiveView(views.first).says("pin")


def test_running_a_cell_again_leaves_no_comm_behind_and_a_crash_no_number_as_live(jupyter):
    folder = jupyter.server.folder / "again"
    context = "context = eth.Context(8_000)\neth.BudgetBar(context)"
    jupyter.open(notebook(folder, "again", LOAD, SHORT, context, "import os\nos._exit(1)"))
    jupyter.run(0, 1)
    jupyter.run(1)
    open_after_two = jupyter.comms()
    jupyter.run(1)
    jupyter.run(1)
    assert open_after_two == jupyter.comms()
    jupyter.run(2)
    # ipywidgets says nothing of a kernel that crashed, was shut down or changed for another; our extension does.
    jupyter.start(3)
    for number in (1, 2):
        LiveView(jupyter.view(number)).says("kernel was restarted or is out of reach")
