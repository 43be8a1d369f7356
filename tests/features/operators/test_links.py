"""Links of all pages: a crawl as a visitor and as an operator."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from directory_server.domain.entries import PUBLISHER

from ...web.browsers import Browser
from ...web.conftest import Server, entry

HOST = "http://localhost"

LISTS = 10
"""Lists that the crawl opens. Each filter of a list leads to others."""


class Page(HTMLParser):
    """The links and forms of a page with their element and `rel`, and the ids."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str, str]] = []
        self.ids: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(attrs)
        self.ids.add(given.get("id") or "")
        target = given.get("href") or given.get("src")
        if target:
            self.links.append((tag, target, given.get("rel") or ""))


@pytest.mark.parametrize("viewer", ["visitor", "operator"])
def test_every_link_leads_to_a_page_and_no_other_host_gets_the_address(
    server: Server, operator: Browser, viewer: str
) -> None:
    readme = "# Links\n\n[Elsewhere](https://elsewhere.example/page)"
    server.publish(
        entry("io.github.acme/links", websiteUrl="https://acme.example", _meta={PUBLISHER: {"readme": readme}})
    )
    browser = operator if viewer == "operator" else Browser(server)
    pages: dict[str, Page] = {}
    left, known, anchors = ["/"], {"/"}, set[tuple[str, str, str]]()
    wrong: list[tuple[object, ...]] = []
    while left:
        path = left.pop()
        # Page requests are limited.
        server.clock.advance(1)
        response = browser.get(path)
        if response.status != 200:
            wrong.append((path, response.status))
        pages[path] = page = Page(browser.page if re.search("html|svg", str(response.headers["Content-Type"])) else "")
        # The documentation has the same links for all viewers.
        for tag, target, rel in [] if viewer == "operator" and path.startswith("/docs/") else page.links:
            url = urlsplit(urljoin(HOST + path, target))
            if url.scheme in ("vscode", "vscode-insiders", "cursor"):
                continue
            if f"{url.scheme}://{url.netloc}" != HOST:
                if tag != "a" or not {"noopener", "noreferrer"} <= set(rel.split()):
                    wrong.append((path, tag, target, rel))
                continue
            found = url.path + (f"?{url.query}" if url.query else "")
            anchors.add((path, found, url.fragment))
            is_list = re.match(r"/(feed\.atom)?\?", found)
            # The documentation is in English on the pages of each language.
            is_translated = found.startswith("/docs") and "lang=" in url.query
            if (
                found not in known
                and not is_translated
                and not (is_list and sum(each.startswith("/?") for each in known) >= LISTS)
            ):
                known.add(found)
                left.append(found)
    wrong += [each for each in anchors if each[2] and each[1] in pages and each[2] not in pages[each[1]].ids]
    assert wrong == []
    assert viewer == "operator" or "/docs/operations/configure" in pages
    assert ("/admin/usage" in pages) == (viewer == "operator")
    assert any(each.startswith("/servers/") for each in pages)
