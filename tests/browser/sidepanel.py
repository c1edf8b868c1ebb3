"""The side panel and the status item of JupyterLab, and what they say."""

import re

from playwright.sync_api import expect

from tests.browser.liveview import LiveView

CATEGORY = "ethang:"
"""What the ids of our commands begin with."""


class SidePanel(LiveView):
    def __init__(self, jupyter):
        self.jupyter = jupyter
        super().__init__(jupyter.page.locator("#ethang-nb-panel"))

    def open(self):
        self.jupyter.command(f"{CATEGORY}open")
        self.root.wait_for()
        return self

    def shows(self, session):
        """The session's name stands in the panel, and its bar does."""
        expect(self.root).to_contain_text(session)
        self.root.get_by_role("meter").first.wait_for()

    @property
    def status(self):
        """The item in the status bar."""
        return self.jupyter.page.locator(".jp-ethang-status")

    def commands(self):
        """Ids of our palette commands by a word of their label."""
        labels = self.jupyter.commands(CATEGORY)
        return {re.sub(r"\W+", " ", label).strip().lower(): name for name, label in labels.items()}
