"""Every view without a kernel: in light and dark, narrow and wide, of nothing, of a little and of 10,000 segments.

All views of the registry stand below one another on a sheet, so that a sheet is drawn and judged once.
"""

import pytest

from tests.browser import axe
from tests.browser.documents import documents
from tests.browser.legible import illegible
from tests.browser.sheet import HEIGHT, STATIC, Sheet

THEMES = ("light", "dark")
WIDTHS = (300, 450, 900)  # 450 is also 900 at a zoom of 200 %


@pytest.fixture
def sheet(tab):
    assert (STATIC / "page.js").is_file(), "the views' bundle is not built"
    return Sheet(tab)


@pytest.fixture(scope="module")
def drawn():
    return documents()


@pytest.mark.parametrize("theme", THEMES)
def test_every_view_fits_at_every_width_and_axe_finds_nothing_grave(sheet, shots, drawn, theme):
    sheet.open(theme=theme)
    found = []
    for name, document in drawn.items():
        for width in WIDTHS:
            sheet.page.set_viewport_size({"width": width, "height": HEIGHT})
            sheet.draw(document)
            assert sheet.page.locator(".eth-live").count() >= len(sheet.views)
            found += [f"{name} at {width}: {line}" for line in illegible(sheet.page, "main")]
            assert "could not be drawn" not in sheet.page.inner_text("main")
            shots.take(sheet.page, "sheet", name, theme, width, clip=sheet.shown())
        found += [f"{name}: {line}" for line in axe.grave(sheet.page, "main")]
    assert [] == found


@pytest.mark.parametrize("preference", THEMES)
def test_a_saved_page_follows_the_systems_light_or_dark(sheet, shots, drawn, preference):
    """Without JupyterLab's colours the view has its own, and they can be read."""
    sheet.page.emulate_media(color_scheme=preference)
    sheet.open(theme="none").draw(drawn["small"], "context")
    shots.take(sheet.page, "saved", preference, clip=sheet.shown())
    assert [] == axe.grave(sheet.page, "main")
    ink, paper = sheet.page.evaluate(
        """() => { const root = getComputedStyle(document.querySelector('.eth-live'));
           const ctx = document.createElement('canvas').getContext('2d');
           const light = colour => { ctx.clearRect(0, 0, 1, 1); ctx.fillStyle = colour; ctx.fillRect(0, 0, 1, 1);
             const [r, g, b] = ctx.getImageData(0, 0, 1, 1).data; return (r + g + b) / 765; };
           return [light(root.color), light(root.backgroundColor)]; }"""
    )
    assert (ink < paper) == (preference == "light")


def test_hostile_text_stays_text(sheet, drawn):
    sheet.open().draw(drawn["hostile"])
    # Open what opens, so that texts behind a fold are looked at as well.
    sheet.page.evaluate("document.querySelectorAll('main details').forEach(item => { item.open = true; })")
    text = sheet.page.inner_text("main")
    assert "<img src=x onerror=" in text
    assert [] == sheet.page.evaluate(
        """() => [...document.querySelectorAll('main *')]
          .filter(item => ['IMG', 'SCRIPT', 'IFRAME', 'OBJECT', 'EMBED', 'LINK', 'BASE'].includes(item.tagName)
            || [...item.attributes].some(({ name, value }) =>
              name.startsWith('on') || /^\\s*(javascript|data):/i.test(value)))
          .map(item => item.outerHTML.slice(0, 200))"""
    )
    assert sheet.page.evaluate("window.p") is None
    raw = sheet.page.evaluate("document.querySelector('main').textContent")
    # Characters that turn the direction of writing, or move the cursor, are shown as escapes.
    assert [] == [char for char in raw if 0x202A <= ord(char) <= 0x202E or 0x2066 <= ord(char) <= 0x2069]
    assert [] == [char for char in raw if ord(char) < 32 and char not in "\n\t"]


def test_ten_thousand_segments_are_not_ten_thousand_elements(sheet, drawn):
    """Only what is near the visible part of the list is in the page, and its last row can be scrolled to."""
    sheet.open().draw(drawn["large"], "segments")
    assert sheet.page.locator("main *").count() < 5_000
    last = drawn["large"]["segments"][-1]["title"]
    assert last not in sheet.page.inner_text("main")
    sheet.page.evaluate(
        """() => { const boxes = [...document.querySelectorAll('main *')].filter(item => item.scrollHeight > 5_000
             && getComputedStyle(item).overflowY !== 'visible');
           (boxes.at(-1) ?? document.scrollingElement).scrollTop = 1e9; }"""
    )
    sheet.page.get_by_text(last).wait_for()


def test_nothing_moves_where_motion_is_not_wanted(sheet, drawn):
    sheet.page.emulate_media(reduced_motion="reduce")
    sheet.open().draw(drawn["small"])
    assert [] == sheet.page.evaluate(
        """() => [...document.querySelectorAll('main *')].filter(item => {
             const style = getComputedStyle(item);
             const moves = text => text.split(',').some(part => parseFloat(part) > 0.01);
             return moves(style.transitionDuration)
               || (style.animationName !== 'none' && moves(style.animationDuration));
           }).map(item => item.outerHTML.slice(0, 120))"""
    )
