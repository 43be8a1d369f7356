"""What differs between kinds of entries, and the card that an entry of another kind than a server has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen

from ..shapes import Issue

CARD = "io.github.mcp-directory-server/card"
"""The key of `server._meta` for the card: its media type, and its URL or the document itself."""

MAX_CARD = 65_536
"""Bytes of an encoded card."""

Text = Callable[[str, int], str]

How = Literal["card", "endpoint", "file", "folder", "archive", "plugin"]


@frozen
class Use:
    """A way to use an entry that is no server: what it is, its URL, and a command for a POSIX shell if there is one."""

    how: How = field(
        metadata={
            "description": "What the URL is: the card of an agent, its endpoint, the file, folder or archive of a "
            "skill, or the source of a plugin."
        }
    )
    url: str = field(metadata={"description": "The URL."})
    command: str = field(
        default="", metadata={"description": "A command for a POSIX shell that installs it; empty if there is none."}
    )


@frozen
class Card:
    """A card: its media type, its URL (empty if it has none), and its document (None if it is only at the URL)."""

    type: str = ""
    url: str = ""
    data: Any = None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Card:
        """Return the card in stored JSON, without members of the wrong type."""
        texts = {name: text for name in ("type", "url") if isinstance(text := value.get(name), str)}
        return cls(**texts, data=value.get("data"))

    def stored(self) -> Mapping[str, Any]:
        members = {"type": self.type, "url": self.url, "data": self.data}
        return {name: value for name, value in members.items() if value not in ("", None)}


@frozen
class Described:
    """What a valid document says: members of a server.json, and of the publisher's metadata."""

    server: Mapping[str, Any]
    publisher: Mapping[str, Any] = field(factory=dict)


@frozen
class Kind:
    """A kind of entries.

    `media_types` are those that its entries have; `aliases` are others and which of these each means. `check` returns
    the issues of a document, and `describe` what a valid one says. `uses` returns the ways to use an entry, by its
    card and the last part of its name. `document` returns the value of a downloaded document: a JSON value, or the
    text; `is_text` is whether it is text. `is_read` returns whether the document at a URL describes the entry.
    """

    name: str
    media_types: Sequence[str]
    aliases: Mapping[str, str]
    check: Callable[[Any], Sequence[Issue]]
    describe: Callable[[Any], Described]
    uses: Callable[[Card, str], Sequence[Use]]
    is_read: Callable[[str], bool]
    is_text: bool = False

    @property
    def all_types(self) -> Mapping[str, str]:
        """All media types of cards, each with the one that its entries have."""
        return {**dict(zip(self.media_types, self.media_types, strict=True)), **self.aliases}
