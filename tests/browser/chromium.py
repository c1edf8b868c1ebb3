"""The system's Chromium: where it is, and one browser driven by playwright.

Plain playwright, no plug-in: see `started` for why its life must end with these tests.
"""

import os
import shutil
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome")
ABSENT = "no Chromium: `apt-get install chromium`, or name one in CHROMIUM"
# Nothing leaves the machine, and nothing needs a display, a sandbox of its own or a first-run page.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def executable():
    """The path of a Chromium, None where there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def started(path):
    """A running browser.

    While it lives, playwright keeps an event loop running on this thread, in which `asyncio.run` refuses to work:
    whoever holds it ends it before other tests begin.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()
