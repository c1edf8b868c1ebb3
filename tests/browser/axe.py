"""axe-core over one element of a page: what keeps somebody from using it."""

from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")

_RUN = """async ([selector, grave]) => {
  const found = await axe.run(selector, { resultTypes: ['violations'] });
  return found.violations
    .filter(rule => grave.includes(rule.impact))
    .flatMap(rule => rule.nodes.map(node =>
      `${rule.id}: ${node.target.join(' ')}: ${(node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? rule.help}`));
}"""


def grave(page, selector):
    """Serious and critical findings below `selector`, a line each."""
    if not page.evaluate("'axe' in window"):
        # Not as an element of the page: a saved page's policy forbids every script but its own.
        page.evaluate("() => { " + SCRIPT.read_text(encoding="utf-8") + "\n}")
    return page.evaluate(_RUN, [selector, list(GRAVE)])
