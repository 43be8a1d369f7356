"""Entries in result lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from ...domain.entries import Entry
from ._filters import plain

TAGS = 5
"""Maximum number of tags per entry in a list."""

_TRANSPORTS = {"stdio": "stdio", "streamable-http": "HTTP", "sse": "SSE"}
"""Display names of transports (MCP 2025-11-25, Transports; SSE of 2024-11-05)."""


@frozen
class Card:
    """An entry in a list, as sanitized text."""

    mcp_id: str
    name: str
    server_name: str
    brief: str
    tags: Sequence[str]
    official: bool
    transports: Sequence[str]


def card(entry: Entry, language: str) -> Card:
    """Return the card of `entry` in `language`."""
    return Card(
        mcp_id=entry.mcp_id,
        name=plain(entry.title or entry.name, 100) or entry.mcp_id,
        server_name=plain(entry.name, 120),
        brief=plain(entry.descriptions.get(language) or entry.brief, 240),
        tags=[plain(tag, 30) for tag in entry.tags[:TAGS]],
        official=entry.is_official,
        transports=transports(entry.transports),
    )


def transports(kinds: Iterable[str]) -> Sequence[str]:
    """Return the display names of the known transports in `kinds`, without duplicates."""
    return list(dict.fromkeys(_TRANSPORTS[kind] for kind in kinds if kind in _TRANSPORTS))
