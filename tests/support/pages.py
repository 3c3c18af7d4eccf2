"""Reads a page as a browser would take it apart, and sees that it needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """Checks that tags are balanced, and collects what matters."""

    VOID = frozenset({"meta", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.cells: list[tuple[str, str | None]] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts: list[str] = []
        self.policy = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.attributes |= set(given)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(given["content"])
        if tag not in self.VOID:
            self.open.append(tag)
        if identity := given.get("id"):
            assert identity not in self.ids
            self.ids.add(identity)
        if tag == "td":
            self.cells.append((str(given.get("class")), None))
        if tag == "a":
            self.links.append(str(given["href"]))
            if self.open[-2:-1] == ["td"]:
                self.cells[-1] = (self.cells[-1][0], given["href"])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)


def assert_needs_nothing_else(text: str) -> Page:
    """Well formed, one script, which its policy allows, and nothing that is fetched."""
    page = Page(text)

    assert page.open == []
    assert page.tags.isdisjoint({"link", "img", "iframe", "object", "form", "base", "image"})
    assert page.attributes.isdisjoint({"src", "srcset", "style", "xlink:href", "action"})
    assert not [name for name in page.attributes if name.startswith("on")]
    assert not re.search(r"url\(|@import|https?:", text)
    [script] = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert page.policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    return page
