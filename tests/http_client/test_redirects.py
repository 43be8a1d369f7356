"""Targets of redirects."""

from __future__ import annotations

import pytest

from directory_server.http_client import redirect_target

URL = "http://a.example/mcp"


@pytest.mark.parametrize(
    ("location", "target", "is_same_host"),
    [
        ("/other", "http://a.example/other", True),
        ("http://A.example:80/", "http://A.example:80/", True),
        ("https://a.example/", "https://a.example/", True),
        ("http://a.example:8080/", "http://a.example:8080/", False),
        ("http://a.example:0/", "http://a.example:0/", False),
        ("//b.example/", "http://b.example/", False),
    ],
)
def test_the_host_and_port_of_a_redirect_are_compared(location: str, target: str, is_same_host: bool) -> None:
    assert redirect_target(URL, location) == (target, is_same_host)


@pytest.mark.parametrize(
    "location",
    [
        *("", "javascript:alert(1)", "javascript://a.example:80/%0aalert(1)", "gopher://a.example:80/"),
        *("file:///etc/passwd", "http://[::1", "http://a.example:x/", "http://a.example:70000/"),
    ],
)
def test_only_http_and_https_urls_are_targets(location: str) -> None:
    assert redirect_target(URL, location) == ("", False)
