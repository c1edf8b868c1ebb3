"""What a person could not read or reach at the width there is: what sticks out, and words that are broken in two."""

# Innermost elements to the right of the page. What scrolls in a box of its own does not count; but a control must be
# in sight without that.
_SPILLED = """root => [...root.querySelectorAll('*')]
  .filter(item => item.childElementCount === 0 && item.getClientRects().length)
  .filter(item => item.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .filter(item => {
    if (item.closest('button, input, select, [role=tab]')) { return true; }
    for (let box = item.parentElement; box; box = box.parentElement) {
      if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(box).overflowX)) { return false; }
    }
    return true;
  })
  .map(item => `outside: ${item.outerHTML.slice(0, 140)}`)"""

# Short words of our own that stand on more than one line, as a sheet of the host around us may make them. Texts and
# addresses may be broken anywhere.
_BROKEN = """root => {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (node.parentElement.closest('pre, code')) { continue; }
    for (const word of node.data.matchAll(/(?<![^\\s])[a-z]{2,12}(?![^\\s])/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) { found.push(`broken: ${word[0]} in ${node.parentElement.outerHTML.slice(0, 100)}`); }
    }
  }
  return found;
}"""


def illegible(page, selector):
    """A line for each fault below the first element that `selector` finds."""
    root = page.locator(selector).first
    return [*root.evaluate(_SPILLED), *root.evaluate(_BROKEN)]
