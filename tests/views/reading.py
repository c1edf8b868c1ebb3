"""Reading HTML back as a browser would: which elements and attributes it holds, and which text."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"br", "meta", "wbr"}


class Reading(HTMLParser):
    """Elements, attributes and visible text of a page; an element that is not closed in order is a fault."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(html)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())

    @property
    def names(self) -> set[tuple[str, str]]:
        """Every element with every attribute it carries somewhere."""
        return {(tag, name) for tag, name, _ in self.attributes}
