"""What a view asks its kernel, and what comes back, in JupyterLab."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.jupyterpage import JupyterPage
from tests.browser.legible import illegible
from tests.browser.liveview import LiveView
from tests.browser.sidepanel import SidePanel
from tests.browser.workshop import HARM, LOAD, SHORT, notebook

PINS = "[pin['text'] for pin in eth.open_session({name!r}).snapshot.to_json()['pins'] if not pin['lifted']]"


@pytest.fixture
def jupyter(tab, lab):
    return JupyterPage(tab, lab, "lab/tree")


def test_pin_and_what_if_go_to_the_kernel_and_back_and_keys_stay_in_the_view(jupyter, shots):
    folder = jupyter.server.folder / "trips"
    jupyter.open(notebook(folder, "trips", LOAD, SHORT, "'here'"))
    jupyter.run(0, 1)
    view, page = LiveView(jupyter.view(1)), jupyter.page
    live = PINS.format(name="trips")
    held = jupyter.value(live)
    assert ["Never open contract_17."] == held

    segments = view.tab("segments")
    rows = segments.get_by_role("row").filter(has_text="tool turn")
    expect(rows.first).to_be_visible()
    # Keys pressed in the view act there, and on no cell of the notebook.
    search = segments.get_by_role("searchbox")
    search.press_sequentially("nap")
    assert "nap" == search.input_value()
    for control in (segments.get_by_role("grid"), view.root.get_by_role("tab", name="Segments")):
        control.focus()
        for key in ("d", "d", "a", "b", "x", "m"):
            page.keyboard.press(key)
    cells = "() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model.type)"
    assert ["code"] * 3 == page.evaluate(cells)

    # A row that is opened shows its text, which only the kernel has.
    rows.first.click()
    opened = segments.get_by_role("region", name="Opened segment")
    expect(opened).to_contain_text("It was quiet all around.")
    page.keyboard.press("Escape")
    expect(opened).not_to_be_visible()

    search.fill("rested four times")
    segments.get_by_role("row").filter(has_text="rested four times").click()
    opened.get_by_role("button", name=re.compile("^pin", re.IGNORECASE)).click()
    view.says("2 pins")
    assert [*held, "rested four times"] == jupyter.value(live)
    view.button("2 pins").click()
    view.root.get_by_role("button", name=re.compile("^unpin", re.IGNORECASE)).last.click()
    view.says("1 pin")
    assert held == jupyter.value(live)

    # A smaller window planned over the same session, and nothing of that applied.
    used = jupyter.value("eth.open_session('trips').budget.used")
    whatif = view.tab("what")
    slider = whatif.get_by_role("slider").first
    expect(whatif.get_by_role("img").first).to_be_visible()
    before = whatif.inner_text()
    slider.focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    expect(whatif).not_to_have_text(before, use_inner_text=True)
    expect(whatif).to_contain_text("replay(window=")
    assert used == jupyter.value("eth.open_session('trips').budget.used")
    assert 3_000 == jupyter.value("eth.open_session('trips').snapshot.budget.window.total")

    # Any request exactly as it was sent.
    timeline = view.tab("timeline")
    timeline.get_by_role("slider").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    request = timeline.get_by_role("region", name="Request of step 2", exact=True)
    expect(request).to_contain_text("as sent")
    size = jupyter.value("len(eth.open_session('trips').request(2))")
    expect(request).to_contain_text(f"{size:,} bytes")
    request.get_by_role("button", name="more characters").click()
    expect(request).to_contain_text("nap 1 was taken.")
    page.keyboard.press("Escape")

    trace = view.tab("trace")
    trace.get_by_role("searchbox").fill("nap 2 was taken")
    page.keyboard.press("Enter")
    expect(trace.get_by_role("region", name="In the window")).to_contain_text("nap 2 was taken")

    # A tab that is left stays as it was left.
    expect(view.tab("what")).to_contain_text("replay(window=")
    assert "rested four times" == view.tab("segments").get_by_role("searchbox").input_value()

    for theme in ("light", "dark"):
        jupyter.theme(theme)
        shots.take(page, "lab", "trips", theme)
    view.root.evaluate("root => { root.id = 'judged'; }")
    assert [] == axe.grave(page, "#judged")
    # JupyterLab's own sheet leaves every view as it is drawn elsewhere.
    found = []
    for name in ("segments", "timeline", "cleanups", "what", "trace"):
        view.tab(name)
        shots.take(view.root, "lab", "tab", name)
        found += [f"{name}: {line}" for line in illegible(page, "#judged")]
    assert [] == found


def test_hostile_text_of_a_real_run_stays_text_in_the_view_the_panel_and_the_saved_output(jupyter):
    folder = jupyter.server.folder / "harm"
    jupyter.open(notebook(folder, "harm", LOAD, HARM))
    panel = SidePanel(jupyter).open()
    jupyter.run(0, 1)
    view = LiveView(jupyter.view(1))
    view.tab("segments")
    view.says("hostile")
    panel.shows("harm")
    assert jupyter.page.evaluate("window.p") is None
    outputs = jupyter.outputs(1)
    assert 0 == outputs.locator(".eth-live, .jp-RenderedHTML").locator("img, script, iframe").count()
    assert 0 == panel.root.locator("img, script, iframe").count()
    expect(outputs.locator(".jp-OutputArea-child").last).to_contain_text("<img src=x onerror=")


def test_requests_are_the_same_bytes_with_views_open_and_closed(jupyter):
    folder = jupyter.server.folder / "bytes"
    unseen = (
        "unseen = eth.Session('script:short.yaml', name='unseen', window=3000, tools=[nap])\n"
        "closed = unseen.run('Rest four times. Never open contract_17.')\nNone"
    )
    seen = SHORT.replace("%%ethang", "%%ethang --session seen")
    jupyter.open(notebook(folder, "bytes", LOAD, unseen, seen))
    panel = SidePanel(jupyter).open()
    jupyter.run(0, 1, 2)
    panel.shows("seen")
    LiveView(jupyter.view(2)).root.get_by_role("meter").first.wait_for()
    steps = "range(1, unseen.snapshot.step + 1)"
    same = "unseen.request(step) == eth.open_session('seen').request(step)"
    found = jupyter.value(f"[{same} for step in {steps}]")
    assert len(found) >= 5
    assert all(found)
