"""The views by keyboard alone, without a kernel."""

import pytest

from tests.browser.documents import example
from tests.browser.sheet import Sheet

# What can take the focus and is on screen. One of a group that moves its focus by arrow keys stands for the group.
_CONTROLS = """() => [...document.querySelectorAll(
    'main :is(button, input, select, textarea, summary, a[href], [tabindex])')]
  .filter(item => item.tabIndex >= 0 && !item.matches(':disabled'))
  .filter(item => item.checkVisibility({ visibilityProperty: true }))
  .map(item => { item.dataset.control ??= String(window.controls = (window.controls ?? 0) + 1);
                 return [item.dataset.control, item.outerHTML.slice(0, 140)]; })"""

# What has the focus, and whether a person sees that it has.
_FOCUSED = """() => {
  const item = document.activeElement;
  if (!item?.closest('main')) { return null; }
  const look = style => [style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
    ? style.outlineColor + style.outlineWidth : '',
    style.boxShadow, style.borderColor, style.backgroundColor].join('|');
  const shown = item.closest('label') ?? item;
  const inside = [item, shown, ...item.children];
  const focused = inside.map(part => look(getComputedStyle(part)));
  item.blur();
  const rest = inside.map(part => look(getComputedStyle(part)));
  item.focus({ focusVisible: true });
  return { control: item.dataset.control ?? '', html: item.outerHTML.slice(0, 140),
    seen: focused.join() !== rest.join() };
}"""


@pytest.fixture
def sheet(tab):
    return Sheet(tab)


def test_tab_reaches_every_control_of_every_view_and_shows_where_it_is(sheet):
    document = example("small")
    unreached, unseen = [], []
    sheet.open()
    for view in sheet.views:
        sheet.draw(document, view)
        controls = dict(sheet.page.evaluate(_CONTROLS))
        reached = set()
        sheet.page.evaluate("document.activeElement.blur()")
        for _ in range(len(controls) + 20):
            sheet.page.keyboard.press("Tab")
            at = sheet.page.evaluate(_FOCUSED)
            if at is None or at["control"] in reached:
                break
            reached.add(at["control"])
            if not at["seen"]:
                unseen.append(f"{view}: {at['html']}")
        unreached += [f"{view}: {html}" for control, html in controls.items() if control not in reached]
    assert [] == unreached
    assert [] == unseen


def test_arrow_keys_move_between_tabs_and_enter_opens(sheet):
    sheet.open().draw(example("small"), "context")
    tabs = sheet.page.get_by_role("tab")
    names = tabs.all_inner_texts()
    assert len(names) >= 5
    tabs.first.focus()
    for name in names[1:]:
        sheet.page.keyboard.press("ArrowRight")
        focused = sheet.page.evaluate("document.activeElement.innerText")
        assert name == focused
        sheet.page.keyboard.press("Enter")
        assert "true" == sheet.page.get_by_role("tab", name=name, exact=True).get_attribute("aria-selected")
        assert sheet.page.get_by_role("tabpanel").inner_text().strip()


def test_no_key_typed_into_a_view_reaches_the_page_around_it(sheet):
    """Letters are JupyterLab's shortcuts: `d d` deletes a cell."""
    sheet.open().draw(example("small"), "segments")
    sheet.page.evaluate(
        "window.keys = []; document.addEventListener('keydown', event => window.keys.push(event.key))"
    )
    box = sheet.page.get_by_role("searchbox").first
    box.focus()
    sheet.page.keyboard.type("dd x")
    assert "dd x" == box.input_value()
    assert [] == sheet.page.evaluate("window.keys")
