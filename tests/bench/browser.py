"""Views at ten thousand segments in a real browser; see tests/browser/speed.py."""

from tests.browser.speed import main

__all__ = ["main"]
