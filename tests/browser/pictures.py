"""The three pictures that README shows: `python -m tests.browser.pictures [FOLDER]` makes them anew.

Drawn in a real JupyterLab from the contracts that the lessons read, so that they show what a reader of README gets.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.browser import chromium, servers
from tests.browser.documents import ROOT
from tests.browser.jupyterpage import JupyterPage
from tests.browser.liveview import LiveView
from tests.browser.sidepanel import SidePanel
from tests.browser.workshop import notebook

GUIDE = ROOT / "notebooks" / "guide"
TASK = """%%ethang --window 6000
Read every file in data/contracts and tell me which order is affected and what its cap is. Never open contract_17."""
WIDE = {"width": 1_200, "height": 2_400}
TALLEST = 900  # pixels of a picture


def _top(box):
    return {**box, "height": min(box["height"], TALLEST)}


def take(page, server, folder):
    """`view.png` in light, `panel.png` in dark, `timeline.png` of the cleanups in light."""
    place = server.folder / "contracts"
    shutil.copytree(ROOT / "notebooks" / "data", place / "data")
    jupyter = JupyterPage(page, server, "lab/tree").open(
        notebook(place, "contracts", "%load_ext ethang_nb", TASK)
    )
    jupyter.run(0, 1)
    view = LiveView(jupyter.view(1))
    view.root.wait_for()
    jupyter.command("application:toggle-left-area")
    page.wait_for_timeout(500)
    page.screenshot(path=folder / "view.png", clip=_top(view.root.bounding_box()))
    view.tab("timeline")
    page.screenshot(path=folder / "timeline.png", clip=_top(view.root.bounding_box()))
    jupyter.theme("dark")
    panel = SidePanel(jupyter).open()
    panel.shows("contracts")
    page.screenshot(path=folder / "panel.png", clip=_top(panel.root.bounding_box()))


def main(arguments):
    folder = Path(arguments[0]) if arguments else GUIDE
    path = chromium.executable()
    if path is None:
        print(chromium.ABSENT, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="ethang-pictures-") as home:
        place = Path(home) / "lab"
        place.mkdir()
        server = servers.jupyter("jupyterlab", place)
        try:
            with chromium.started(path) as browser:
                take(browser.new_page(viewport=WIDE), server, folder)
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
