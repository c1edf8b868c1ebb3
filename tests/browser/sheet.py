"""A page without server and kernel that draws views of a document, below one another: the bundle of a saved page.

It has JupyterLab's own colours, light or dark, so that a view looks as it will there; `theme="none"` leaves them out,
as in a saved page, where the system's preference decides.
"""

import json
import sys
from pathlib import Path

from tests.browser.documents import ROOT

STATIC = ROOT / "ethang_nb" / "static"
THEMES = Path(sys.prefix) / "share" / "jupyter" / "lab" / "themes" / "@jupyterlab"
ADDRESS = "http://sheet.test/"
HEIGHT = 5_000
"""CSS pixels; views below the fold would not be drawn."""

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>sheet</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="theme.css"><link rel="stylesheet" href="widget.css">
<style>body { margin: 0; background: var(--jp-layout-color0, Canvas); font-family: sans-serif }
main { padding: 8px } section { margin-bottom: 16px }</style>
<script type="module">import * as widget from './page.js'; window.widget = widget;</script>
</head><body><main></main></body></html>"""

_DRAW = """async ([views, text, options]) => {
  const doc = JSON.parse(text);
  for (const end of window.ends ?? []) { await end?.(); }
  window.ends = [];
  const main = document.querySelector('main');
  main.replaceChildren();
  for (const view of views) {
    const section = main.appendChild(document.createElement('section'));
    section.dataset.view = view;
    window.ends.push(await window.widget.mount(section, { view, doc, options }));
  }
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


class Sheet:
    def __init__(self, page):
        self.page = page
        page.route(f"{ADDRESS}**", self._serve)

    def open(self, *, theme="light", width=900, height=HEIGHT):
        """An empty sheet. `theme` is light, dark or none; `width` in CSS pixels, so 450 is 900 at a zoom of 200 %."""
        self._theme = theme
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.goto(ADDRESS)
        self.page.wait_for_function("'widget' in window")
        if theme != "none":
            self.page.evaluate(
                "light => { document.body.dataset.jpThemeLight = light }", str(theme == "light").lower()
            )
        return self

    @property
    def views(self):
        """The ids of the registry, and of the view that joins them."""
        return self.page.evaluate("[...window.widget.views, 'context']")

    def draw(self, document, *views, **options):
        """Draws these views, all without any being named, in place of what stood there."""
        # As a text: playwright takes seconds to hand over a large object.
        self.page.evaluate(_DRAW, [list(views) or self.views, json.dumps(document), options])
        return self

    def shown(self):
        """What a picture of the sheet should hold: its content, as far as it is drawn."""
        width, height = self.page.viewport_size["width"], self.page.locator("main").bounding_box()["height"]
        return {"x": 0, "y": 0, "width": width, "height": min(height, self.page.viewport_size["height"])}

    def view(self, name):
        return self.page.locator(f'[data-view="{name}"]')

    def _serve(self, route):
        name = route.request.url.removeprefix(ADDRESS)
        if name == "":
            route.fulfill(body=_PAGE, content_type="text/html")
        elif name == "theme.css":
            theme = THEMES / f"theme-{self._theme}-extension" / "index.css"
            route.fulfill(body="" if self._theme == "none" else theme.read_text(), content_type="text/css")
        elif name in ("page.js", "widget.css"):
            route.fulfill(path=STATIC / name)
        else:
            route.abort()
