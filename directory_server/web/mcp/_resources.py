"""The resources: every entry by its id, and a list of those that were added last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import serialization
from ...domain.changes import Change
from ...domain.entries import Entry
from ...domain.errors import BadInput
from ...services.directory import Directory

NEWEST = 20
"""Entries in the list."""

SCHEME = "directory://entries/"
"""What the URI of an entry begins with; its mcp_id follows."""

TEMPLATES = [
    {
        "uriTemplate": SCHEME + "{mcp_id}",
        "name": "entry",
        "title": "An MCP server of the directory",
        "description": "All that the directory knows of one MCP server, by the mcp_id that search_mcp gives.",
        "mimeType": "application/json",
    }
]


class NewestEntries:
    """The list of the entries added last, made anew with each change: a Subscriber."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self.listed = serialization.raw(b"[]")
        """The list, encoded."""

    async def apply(self, changes: Sequence[Change]) -> None:
        described = await self._directory.newest(NEWEST, _described)
        self.listed = serialization.raw(serialization.encode(described))


def entry_of(uri: str) -> str | None:
    """Return the mcp_id of the entry that `uri` names, None if it names none."""
    if not uri.startswith(SCHEME):
        return None
    try:
        return serialization.entry_id(uri.removeprefix(SCHEME))
    except BadInput:
        return None


def _described(entry: Entry) -> dict[str, Any]:
    hit = entry.hit()
    return {
        "uri": SCHEME + hit.mcp_id,
        "name": hit.server_name,
        "title": hit.name,
        "description": hit.brief,
        "mimeType": "application/json",
    }
