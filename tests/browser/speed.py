"""How fast views are in Chromium, at 10,000 segments: `python -m tests.browser.speed`.

Opening and scrolling are measured on a page without a kernel; a slider's way goes to a kernel in JupyterLab, which
plans again, and back to what is drawn. Nothing here passes or fails: figures are read beside their promises.
"""

import json
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tests.bench.timing import milliseconds
from tests.browser import chromium, servers
from tests.browser.documents import MANY, large
from tests.browser.jupyterpage import JupyterPage
from tests.browser.liveview import LiveView
from tests.browser.sheet import Sheet
from tests.browser.workshop import notebook

ROUNDS = 7
MOVES = 15

_OPEN = """async ([view, text]) => {
  const doc = JSON.parse(text);
  const section = document.querySelector('main').appendChild(document.createElement('section'));
  const started = performance.now();
  const end = window.widget.mount(section, { view, doc });
  do {
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  } while (section.querySelectorAll('[role=row]').length < 5);
  const taken = performance.now() - started;
  end();
  section.remove();
  return taken;
}"""

# The longest time between two frames while a list is scrolled from its top to its end and back, a page a frame.
_SCROLL = """async () => {
  const boxes = [...document.querySelectorAll('main *')]
    .filter(item => item.scrollHeight > 5_000 && getComputedStyle(item).overflowY !== 'visible');
  const box = boxes.at(-1) ?? document.scrollingElement;
  const frame = () => new Promise(requestAnimationFrame);
  const taken = [];
  let last = await frame();
  for (const way of [1, -1]) {
    for (let step = 0; step < 120; step++) {
      box.scrollTop += way * (step < 100 ? box.clientHeight / 2 : box.scrollHeight / 20);
      const now = await frame();
      taken.push(now - last);
      last = now;
    }
  }
  return taken;
}"""

# From the input event to the first frame in which what was planned is drawn: the tables' text has changed.
_MOVE = """async ([slider, panel, value]) => {
  const drawn = () => [...panel.querySelectorAll('table, svg')].map(item => item.outerHTML).join();
  const before = drawn();
  const started = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(slider, value);
  slider.dispatchEvent(new Event('input', { bubbles: true }));
  while (drawn() === before) {
    if (performance.now() - started > 10_000) { return null; }
    await new Promise(requestAnimationFrame);
  }
  return performance.now() - started;
}"""

FILL = f"""import ethang_nb as eth
context = eth.Context(1_000_000, model="gpt-4o", system="You are a careful clerk.")
context.append({{"role": "user", "content": "Read every part."}})
for number in range({MANY // 2}):
    context.append({{"role": "assistant", "content": f"I go on with part {{number}}."}})
    context.append({{"role": "user", "content": f"Part {{number}} says little that matters to anybody. " * 3}})
    sent = context.request()"""
SHOW = "eth.ContextView(context)"


def opening(sheet, document):
    """Milliseconds from the call to the first frame, for the list and for the whole context view."""
    text = json.dumps(document)
    for view in ("segments", "context"):
        sheet.open()
        taken = [sheet.page.evaluate(_OPEN, [view, text]) / 1_000 for _ in range(ROUNDS)]
        print(f"open {view:<10} of {MANY:,} segments: {milliseconds(taken)} (promise: 500 ms)")


def scrolling(sheet, document):
    sheet.open().draw(document, "segments")
    taken = sheet.page.evaluate(_SCROLL)
    over = sum(frame > 50 for frame in taken)
    print(
        f"scroll {len(taken)} frames: longest {max(taken):.1f} ms, {over} over 50 ms (promise: none), "
        f"median {sorted(taken)[len(taken) // 2]:.1f} ms"
    )


def moving(page, server):
    """A slider of the what-if over a context of as many segments, to a real kernel and back."""
    jupyter = JupyterPage(page, server, "lab/tree").open(
        notebook(server.folder / "speed", "speed", FILL, SHOW)
    )
    jupyter.run(0)
    started = time.monotonic()
    jupyter.start(1)
    jupyter.view(1).get_by_role("grid").get_by_role("row").nth(5).wait_for()
    print(f"open in JupyterLab, from the cell's start to rows: {time.monotonic() - started:.2f} s")
    panel = LiveView(jupyter.view(1)).tab("what")
    panel.locator("svg path").first.wait_for(timeout=60_000)
    slider = panel.get_by_role("slider").first
    print(f"what-if over {jupyter.value('context.snapshot.step'):,} steps")
    low, high = (float(slider.get_attribute(name)) for name in ("min", "max"))
    for name, pause in (("a move each 0.3 s", 300), ("one move right after the other", 0)):
        taken = []
        for move in range(MOVES):
            value = str(round(low + (high - low) * (move + 1) / (MOVES + 1)))
            page.wait_for_timeout(pause)
            found = page.evaluate(_MOVE, [slider.element_handle(), panel.element_handle(), value])
            if found is not None:
                taken.append(found / 1_000)
        shown = milliseconds(taken) if taken else "never"
        print(f"slider to redraw, {name}: {shown}, {len(taken)} of {MOVES} moves redrew (promise: 50 ms)")


@contextmanager
def _lab():
    with tempfile.TemporaryDirectory(prefix="ethang-speed-") as folder:
        place = Path(folder) / "lab"
        place.mkdir()
        server = servers.jupyter("jupyterlab", place)
        try:
            yield server
        finally:
            server.stop()


def main():
    path = chromium.executable()
    if path is None:
        print(chromium.ABSENT, file=sys.stderr)
        return 1
    document = large()
    with chromium.started(path) as browser, _lab() as server:
        page = browser.new_page(viewport={"width": 1_280, "height": 900})
        sheet = Sheet(page)
        opening(sheet, document)
        scrolling(sheet, document)
        moving(browser.new_page(viewport={"width": 1_280, "height": 900}), server)
    return 0


if __name__ == "__main__":
    sys.exit(main())
