"""Rules of publisher tokens: patterns of namespaces, and the names that they permit."""

from __future__ import annotations

import pytest

from directory_server.domain.errors import BadInput
from directory_server.features.publishing.tokens import PublisherToken, new_publisher_token


def token(*namespaces: str) -> PublisherToken:
    return new_publisher_token("ci", namespaces, 0.0, None)[0]


@pytest.mark.parametrize(
    ("pattern", "permitted", "rejected"),
    [
        ("io.acme/*", ["io.acme/tool", "io.acme/a.b_c-D"], ["io.acme.lab/tool", "io.acmee/tool", "xio.acme/tool"]),
        ("io.acme/tool", ["io.acme/tool"], ["io.acme/tool2", "io.acme/too", "io.acme/Tool"]),
        ("io.acme.*/*", ["io.acme.lab/tool", "io.acme.a.b/tool"], ["io.acme/tool", "io.acmex/tool", "io.acme./tool"]),
        ("acme/*", ["acme/tool"], ["io.acme/tool"]),
    ],
)
def test_patterns_permit_names(pattern: str, permitted: list[str], rejected: list[str]) -> None:
    assert all(token(pattern).permits(name) for name in permitted)
    assert not any(token(pattern).permits(name) for name in rejected)


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "*", "*/*", "io.acme", "io.acme/", "/*", "io.*/*/*", "io.*/*", "i*/*", "io.acme/t*", "io.acme*/*"),
        *(
            "io..acme/*",
            ".acme/*",
            "io.acme./*",
            "io.acme/* ",
            "io.acme/*\n",
            "io.\u0430cme/*",
            "-a/*",
            "a" * 200 + "/*",
        ),
    ],
)
def test_other_patterns_are_rejected(pattern: str) -> None:
    with pytest.raises(BadInput, match="namespace: "):
        token(pattern)


def test_patterns_are_deduplicated_in_order() -> None:
    assert token("b/*", "a/*", "b/*").namespaces == ("b/*", "a/*")
