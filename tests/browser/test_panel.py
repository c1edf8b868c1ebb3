"""The side panel, the status item and the commands in JupyterLab: they follow the notebook in front."""

import pytest
from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.jupyterpage import JupyterPage
from tests.browser.liveview import STOPS_IN
from tests.browser.sidepanel import SidePanel
from tests.browser.workshop import LOAD, LONG, SHORT, notebook, recorded


@pytest.fixture
def jupyter(tab, lab):
    return JupyterPage(tab, lab, "lab/tree")


def test_the_panel_follows_tabs_and_says_why_it_is_empty(jupyter, shots):
    folder = jupyter.server.folder / "follow"
    red, blue, bare = (
        notebook(folder, "red", LOAD, SHORT),
        notebook(folder, "blue", LOAD, SHORT.replace("3000", "6000"), "%%ethang\nRead c.txt."),
        notebook(folder, "bare", "1 + 1"),
    )
    jupyter.page.goto(f"{jupyter.server.url}/lab?reset")
    jupyter.page.wait_for_function("() => window.jupyterapp?.shell.currentWidget")
    panel = SidePanel(jupyter).open()
    panel.says("no notebook")
    assert not panel.status.is_visible()

    jupyter.bring(bare)
    jupyter.run(0)
    panel.says("%load_ext ethang_nb")
    assert 0 == jupyter.comms()
    assert not panel.status.is_visible()

    jupyter.bring(red)
    jupyter.run(0, 1)
    panel.shows("red")
    fills = {"red": jupyter.value("eth.open_session('red').budget.fill / 10")}
    panel.shows_fill(fills["red"])
    expect(panel.status).to_contain_text(f"{fills['red']:.1f} %")
    jupyter.bring(blue)
    jupyter.run(0, 1)
    panel.shows("blue")
    fills["blue"] = jupyter.value("eth.open_session('blue').budget.fill / 10")
    assert fills["red"] != fills["blue"]

    for path, name, other in ((red, "red", "blue"), (blue, "blue", "red"), (red, "red", "blue")):
        jupyter.bring(path)
        panel.shows(name)
        panel.shows_fill(fills[name])
        expect(panel.root).not_to_contain_text(other)
        # Coming back to a notebook opens no second comm.
        assert 1 == jupyter.comms("ethang_nb.panel")
    jupyter.bring(bare)
    panel.says("%load_ext ethang_nb")

    jupyter.bring(red)
    for theme in ("light", "dark"):
        jupyter.theme(theme)
        shots.take(jupyter.page, "panel", theme)
        assert [] == axe.grave(jupyter.page, "#ethang-nb-panel")

    jupyter.restart()
    panel.says("restarted")
    assert not panel.button("^stop").is_visible()
    jupyter.run(0, 1)
    panel.shows("red")
    expect(panel.root).not_to_contain_text("restarted")
    jupyter.shut_down()
    panel.says("no kernel")


def test_stop_in_the_panel_ends_the_run_and_commands_and_button_are_there(jupyter):
    folder = jupyter.server.folder / "panelstop"
    jupyter.open(notebook(folder, "panelstop", LOAD, LONG, "execution = 1"))
    panel = SidePanel(jupyter).open()
    jupyter.run(0)
    jupyter.start(1)
    panel.shows("panelstop")
    panel.grows()
    assert jupyter.running(1)
    assert panel.stop(folder, "panelstop") < STOPS_IN
    jupyter.finish(1)
    # The palette's Stop does the same, on the run that goes on with the script.
    jupyter.start(1)
    panel.button("^stop").wait_for()
    jupyter.command("ethang:stop")
    jupyter.finish(1)
    ends = [data["ending"] for kind, _, data in recorded(folder, "panelstop") if kind == "run end"]
    assert ["interrupted"] * 2 == ends
    # Looking ran nothing in the kernel: the next cell's number follows that of the last one.
    jupyter.run(2)
    assert "[4]" in jupyter.panel.locator(".jp-Cell").nth(2).locator(".jp-InputPrompt").inner_text()
    commands = " | ".join(panel.commands())
    for word in ("show the context window", "stop", "compact", "reseed", "lesson"):
        assert word in commands
    button = jupyter.panel.locator(".jp-NotebookPanel-toolbar [data-jp-item-name^='ethang']")
    expect(button.first).to_be_visible()
    # The status item leads to the panel.
    jupyter.command("application:toggle-right-area")
    panel.status.click()
    expect(panel.root).to_be_visible()


def test_the_panel_stands_where_it_was_after_a_reload_and_finds_its_kernel(jupyter):
    folder = jupyter.server.folder / "reload"
    path = notebook(folder, "reload", LOAD, SHORT)
    jupyter.open(path)
    panel = SidePanel(jupyter).open()
    jupyter.run(0, 1)
    panel.shows("reload")
    fill = jupyter.value("eth.open_session('reload').budget.fill / 10")
    panel.shows_fill(fill)
    jupyter.save()
    jupyter.page.wait_for_timeout(
        1_500
    )  # the workspace is saved a second after the last change of the layout
    jupyter.page.goto(f"{jupyter.server.url}/lab")
    jupyter.ready()
    panel.shows("reload")
    panel.shows_fill(fill)
    # The page that went took its comm along.
    assert 1 == jupyter.comms("ethang_nb.panel")


def test_two_notebooks_on_one_kernel_show_its_sessions_both(jupyter):
    folder = jupyter.server.folder / "shared"
    one, two = notebook(folder, "one", LOAD, SHORT), notebook(folder, "two", SHORT, "2")
    jupyter.open(one)
    panel = SidePanel(jupyter).open()
    jupyter.run(0, 1)
    panel.shows("one")
    kernel = jupyter.kernel
    jupyter.bring(two)
    jupyter.page.evaluate(
        """async id => { await window.jupyterapp.shell.currentWidget.sessionContext.changeKernel({ id }); }""",
        kernel,
    )
    jupyter.ready()
    panel.shows("one")
    fill = panel.fill
    jupyter.run(0)  # goes on with the kernel's session
    changed = jupyter.value("eth.open_session('one').budget.fill / 10")
    assert fill != changed
    panel.shows_fill(changed)
    jupyter.bring(one)
    panel.shows("one")
    panel.shows_fill(changed)
