"""`ContextView.save`: one file that can be clicked through without a kernel, a server or a network."""

import pytest
from playwright.sync_api import expect

import ethang_nb as eth
from tests.browser import axe
from tests.browser.liveview import LiveView
from tests.browser.workshop import HOSTILE

TASK = f"Which order is affected? Never open contract_17. {HOSTILE}"


@pytest.fixture
def context():
    found = eth.Context(4_000, model="gpt-4o", system="You are a careful clerk.")
    found.append({"role": "user", "content": TASK})
    for number in range(30):
        found.append(
            {"role": "assistant", "content": f"I read part {number}. {HOSTILE} " + "It says little. " * 30}
        )
        found.append({"role": "user", "content": "Go on."})
        found.request()
    return found


def test_a_saved_page_works_from_a_file_and_asks_nobody(tab, context, tmp_path):
    page = eth.ContextView(context).save(tmp_path / "report.html")
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(page.as_uri())
    view = LiveView(tab.locator(".eth-live"))
    view.shows_fill(context.budget.fill / 10)
    assert [page.as_uri()] == [url for url in asked if not url.startswith("data:")]
    segments = view.tab("segments")
    segments.get_by_role("row").filter(has_text="I read part 29").click()
    expect(segments.get_by_role("region", name="Opened segment")).to_contain_text(
        "It says little. It says little."
    )
    for name in ("timeline", "cleanups", "what", "trace"):
        assert view.tab(name).inner_text().strip()
    assert tab.evaluate("window.p") is None
    assert 0 == tab.locator("body :is(img, iframe)").count()
    assert [] == axe.grave(tab, ".eth-live")


def test_without_script_the_same_numbers_stand_there(browser, context, tmp_path):
    page = eth.ContextView(context).save(tmp_path / "report.html")
    shown = browser.new_context(java_script_enabled=False)
    try:
        still = shown.new_page()
        still.goto(page.as_uri())
        expect(still.locator("main")).to_contain_text(
            f"{context.budget.fill / 10:.1f} %", use_inner_text=True
        )
    finally:
        shown.close()
