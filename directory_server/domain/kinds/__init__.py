"""Kinds of entries: servers, and those of the modules beside this one.

The name of an entry tells its kind: `com.acme/agent:weather`. So an agent and a server of one publisher have different
names and ids, all versions of a name are of one kind, and what has a name needs no document. A server has no such word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from . import agent, plugin, skill
from ._kind import CARD, MAX_CARD, Card, Kind, Use

__all__ = [
    "ANY",
    "CARD",
    "KINDS",
    "MAX_CARD",
    "SERVER",
    "SERVER_TYPES",
    "TYPES",
    "VALUES",
    "Card",
    "Kind",
    "Use",
    "atoms",
    "card_of",
    "is_asked",
    "kind_of",
    "names_kinds",
    "plain_name",
    "short_name",
    "unlisted",
    "value_of",
]

SERVER, ANY = "server", "any"
"""The kind of most entries, and the value of the filter `kind` that all entries have."""

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (agent.KIND, skill.KIND, plugin.KIND)}
"""The other kinds, by name."""

SERVER_TYPES = ("application/mcp-server-card+json", "application/mcp-server+json", "application/mcp-server")
"""Media types of cards of MCP servers; the later ones are older names (ADR 0008 of ARD)."""

TYPES: Mapping[str, tuple[Kind, str]] = {
    given: (kind, meant) for kind in KINDS.values() for given, meant in kind.all_types.items()
}
"""The kind of each media type, and the type that its entries have."""

VALUES = (SERVER, *KINDS, ANY)
"""The values of the filter `kind` that people write. It allows a media type as well, for the API of ARD."""

_FILTER = re.compile(r"(?<!\S)kind:", re.IGNORECASE)


def kind_of(name: str) -> str:
    """Return the kind of the entry with a registered name."""
    if ":" not in name:
        return SERVER
    word = name.rpartition("/")[2].partition(":")[0]
    return word if word in KINDS and "/" in name else SERVER


def short_name(name: str) -> str:
    """Return the last part of a registered name, without the word for the kind."""
    short = name.rpartition("/")[2]
    return short.partition(":")[2] if kind_of(name) != SERVER else short


def plain_name(name: str) -> str:
    """Return a registered name without the word for the kind, in the form of the name of a server."""
    return name if kind_of(name) == SERVER else f"{name.rpartition('/')[0]}/{short_name(name)}"


def names_kinds(keywords: str) -> bool:
    """Return whether search words have the filter `kind`: others find servers only, where a reader expects these."""
    return ":" in keywords and _FILTER.search(keywords) is not None


def is_asked(name: str, keywords: str | None) -> bool:
    """Return whether a reader of changes that match `keywords` expects those of the entry `name`."""
    return kind_of(name) == SERVER or names_kinds(keywords or "")


def card_of(server: Mapping[str, Any]) -> Card:
    """Return the card in the document of an entry of another kind; an empty one if it has none."""
    meta = server.get("_meta")
    card = meta.get(CARD) if isinstance(meta, dict) else None
    return Card.of(card) if isinstance(card, dict) else Card()


def atoms(name: str, media_type: str) -> Sequence[str]:
    """Return the values of the filter `kind` that an entry of a kind has: its media type, too, if there are several.

    Servers, which are most entries, have none.
    """
    if name == SERVER:
        return ()
    return (name, media_type) if len(KINDS[name].media_types) > 1 else (name,)


def unlisted(values: Collection[str]) -> Sequence[str]:
    """Return the values of the filter `kind` that entries with one of `values` lack, which include servers."""
    rest = [kind for kind in KINDS.values() if ANY not in values and kind.name not in values]
    return [
        value
        for kind in rest
        for value in (kind.media_types if len(kind.media_types) > 1 else (kind.name,))
        if value not in values
    ]


def value_of(media_type: str) -> str | None:
    """Return the value of the filter `kind` for a media type, None for one that no entry has."""
    if media_type in SERVER_TYPES:
        return SERVER
    if media_type not in TYPES:
        return None
    kind, meant = TYPES[media_type]
    return meant if len(kind.media_types) > 1 else kind.name
