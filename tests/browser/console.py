"""What a page complains about. Everything counts but what is listed here with its reason."""

import re

ALLOWED = (
    # Notebook 7.6 at every load of a notebook, without any extension as well.
    r"uncaught: .*Cannot read properties of undefined \(reading 'schema'\)",
    # The debugger of JupyterLab and Notebook 7 asks a kernel that is just being restarted or shut down.
    r"Could not restore the debugger state: Canceled future",
)


class Console:
    """Errors of one page: console.error, exceptions nobody caught, and what could not be loaded."""

    def __init__(self, page):
        self.errors = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._take(f"uncaught: {error.stack or error}"))

    def _said(self, message):
        if message.type == "error":
            self._take(f"{message.text} ({message.location.get('url', '')})")

    def _take(self, text):
        if not any(re.search(pattern, text) for pattern in ALLOWED):
            self.errors.append(text)
