"""MCP resources: each entry by its id, and a list of the most recently published entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import serialization
from ...domain.changes import Change
from ...domain.entries import Entry
from ...domain.errors import BadInput
from ...domain.ports.storage import Store
from ...domain.withholding import shown_hit

NEWEST = 20
"""Maximum entries in the list."""

SCHEME = "directory://entries/"
"""Prefix of an entry's URI; the mcp_id follows."""

TEMPLATES = [
    {
        "uriTemplate": SCHEME + "{mcp_id}",
        "name": "entry",
        "title": "MCP server",
        "description": "The complete entry of one MCP server, by the mcp_id from a search_mcp result.",
        "mimeType": "application/json",
    }
]


class NewestEntries:
    """Subscriber that rebuilds the list of the most recently published entries at each change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.listed = serialization.raw(b"[]")
        """The list, encoded."""

    async def apply(self, changes: Sequence[Change]) -> None:
        self.listed = await newest_resources(self._store)


async def newest_resources(store: Store) -> Any:
    """Return the most recently published entries of `store` as a list of resources, encoded."""
    return serialization.raw(serialization.encode(await store.newest(NEWEST, _resource)))


def mcp_id_from_uri(uri: str) -> str | None:
    """Return the mcp_id in the URI of an entry, None if it is not such a URI."""
    if not uri.startswith(SCHEME):
        return None
    try:
        return serialization.entry_id(uri.removeprefix(SCHEME))
    except BadInput:
        return None


def _resource(entry: Entry) -> dict[str, Any]:
    hit = shown_hit(entry)
    return {
        "uri": SCHEME + hit.mcp_id,
        "name": hit.server_name,
        "title": hit.name,
        "description": hit.brief,
        "mimeType": "application/json",
    }
