"""Fixtures: page requests and parsed pages."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from ..conftest import Response, Server

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

GetPage = Callable[..., Response]


@pytest.fixture
def get_page(server: Server) -> GetPage:
    """Return a function that requests a page as a browser, with headers as keywords."""

    def get_page(path: str, method: str = "GET", **headers: str) -> Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return server.request(method, path, key=None, headers={**BROWSER, **named})

    return get_page


class Document(HTMLParser):
    """A parsed page: its elements with their attributes, and its text."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(response.body.decode())

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def links(self) -> list[str]:
        return [link["href"] or "" for link in self.all("a")]

    def feeds(self) -> list[str]:
        """Return the URLs of the feeds that feed readers find on the page."""
        return [link["href"] or "" for link in self.all("link") if link.get("type") == "application/atom+xml"]
