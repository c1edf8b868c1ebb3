"""One of our views in a page, found by what a person or a screen reader finds it by."""

import re
import time

from playwright.sync_api import expect

from tests.browser.workshop import recorded

STOPS_IN = (
    3  # seconds; the promise is one, the rest is for a busy machine. Without Stop the runs here go on for 20
)


class LiveView:
    """`root` is the element of class `eth-live`, or the side panel around it."""

    def __init__(self, root):
        self.root = root

    @property
    def text(self):
        return self.root.inner_text()

    @property
    def fill(self):
        """What the bar says to a screen reader."""
        meter = self.root.get_by_role("meter").first
        return float(meter.get_attribute("aria-valuenow"))

    def grows(self):
        """Waits until the bar says something else than now; returns both."""
        before = self.fill
        expect(self.root.get_by_role("meter").first).not_to_have_attribute(
            "aria-valuenow", re.compile(rf"^{before:g}$"), timeout=15_000
        )
        return before, self.fill

    def shows_fill(self, percent):
        """Waits until the bar says this number, which Python gave."""
        expect(self.root.get_by_role("meter").first).to_have_attribute("aria-valuenow", f"{percent:g}")

    def button(self, name):
        return self.root.get_by_role("button", name=re.compile(name, re.IGNORECASE)).first

    def tab(self, name):
        """Turns to a tab and returns what it shows; tabs that were left stay in the page, hidden."""
        self.root.get_by_role("tab", name=re.compile(f"^{name}", re.IGNORECASE)).click()
        return self.root.get_by_role("tabpanel").locator("> div:not([hidden])")

    def says(self, pattern):
        expect(self.root).to_contain_text(re.compile(pattern, re.IGNORECASE), use_inner_text=True)

    def stop(self, folder, session):
        """Presses Stop and returns the seconds from there to the end of the run, by its record."""
        ended = sum(kind == "run end" for kind, _, _ in recorded(folder, session))
        pressed = time.time()
        self.button("^stop").click()
        end = time.monotonic() + 30
        while time.monotonic() < end:
            ends = [(at, data) for kind, at, data in recorded(folder, session) if kind == "run end"]
            if len(ends) > ended:
                at, data = ends[-1]
                assert "interrupted" == data["ending"], data
                return at - pressed
            time.sleep(0.05)
        raise AssertionError("the run does not end")
