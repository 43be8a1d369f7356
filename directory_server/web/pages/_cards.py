"""What a list shows of each entry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from ...domain.entries import Entry
from ._filters import plain

TAGS = 5
"""Tags of an entry that a list shows."""

_TRANSPORTS = {"stdio": "stdio", "streamable-http": "HTTP", "sse": "SSE"}
"""How servers are spoken to (MCP 2025-11-25, Transports; SSE of 2024-11-05), as people write it."""


@frozen
class Card:
    """An entry in a list, as text that can be shown."""

    mcp_id: str
    name: str
    server_name: str
    brief: str
    tags: Sequence[str]
    official: bool
    transports: Sequence[str]


def card(entry: Entry, language: str) -> Card:
    """Return what a list in `language` shows of `entry`."""
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
    """Return how a server is spoken to, each way once, of what entries call it."""
    return list(dict.fromkeys(_TRANSPORTS[kind] for kind in kinds if kind in _TRANSPORTS))
