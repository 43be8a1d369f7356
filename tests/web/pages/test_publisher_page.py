"""The page of a publisher: the entries of its namespace."""

from __future__ import annotations

import re

import pytest

from directory_server.web.pages._publisher_page import PER_PAGE

from ..conftest import Server, entry

HTML = {"Accept": "text/html"}


def shown(server: Server, path: str) -> list[str]:
    """Return the registered names on a page."""
    response = server.get(path, key=None, headers=HTML)
    assert response.status == 200
    return re.findall(r'<p class="id"><bdi>([^<]+/[^<]+)</bdi>', response.body.decode())


def test_the_page_lists_the_entries_of_its_namespace(server: Server) -> None:
    server.publish(entry("io.github.example2/other"), entry("io.github.exampl/other"), entry("io.github.example/zoo"))
    names = ["io.github.example/mail", "io.github.example/postgres-mcp", "io.github.example/zoo"]
    assert shown(server, "/publishers/io.github.example") == names
    page = server.get("/publishers/io.github.example", key=None, headers=HTML).body.decode()
    assert 'href="https://github.com/example"' in page


def test_pages_are_contiguous(server: Server) -> None:
    names = [f"com.acme/{number:03}" for number in range(PER_PAGE + 3)]
    server.publish(*map(entry, names), entry("com.acme0/other"))
    first = server.get("/publishers/com.acme", key=None, headers=HTML).body.decode()
    [following] = re.findall(r'rel="next" href="([^"]+)"', first)
    assert shown(server, "/publishers/com.acme") + shown(server, following.replace("&amp;", "&")) == names
    assert 'rel="next"' not in server.get(following, key=None, headers=HTML).body.decode()


@pytest.mark.parametrize("namespace", ["io.github.none", "io.github", "%3Cscript%3E", "..", "io.github.example%2Fmail"])
def test_an_unknown_publisher_is_not_found(server: Server, namespace: str) -> None:
    response = server.get(f"/publishers/{namespace}", key=None, headers=HTML)
    assert response.status == 404
    assert b"<script>" not in response.body
