"""The texts of entries that the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from attrs import frozen

from ... import serialization
from ...domain.changes import Change
from ...domain.entries import Entry
from .settings import EmbeddingsConfig

FORM = 1
"""The number of the form of the texts. Another number makes all vectors again."""

MAX_TEXT = 220
"""Characters of an entry that the model reads: beyond them it is slower, and no better."""


@frozen
class Passage:
    """The text of an entry, and its digest."""

    mcp_id: str
    text: str
    digest: bytes


def text_of(entry: Entry) -> str:
    """Return the text of `entry` that the model reads: its title, or else a part of its name, and a description."""
    name = entry.title or entry.name.rpartition("/")[2].replace("-", " ").replace("_", " ")
    description = max((entry.brief, entry.long_description, *entry.descriptions.values()), key=len)
    return f"{name}. {description}"[:MAX_TEXT]


def passages(changes: Sequence[Change]) -> tuple[Sequence[Passage], Sequence[str]]:
    """Return the texts of the entries of `changes`, once for each, and the ids of those that were removed."""
    latest = {change.mcp_id: change for change in changes}
    removed = [mcp_id for mcp_id, change in latest.items() if change.body is None]
    texts = {
        mcp_id: text_of(serialization.restore_entry(change.body))
        for mcp_id, change in latest.items()
        if change.body is not None
    }
    return [Passage(mcp_id, text, _digest(text, 16)) for mcp_id, text in texts.items()], removed


def model_id(settings: EmbeddingsConfig) -> str:
    """Return the id of the vectors of entries: equal if the same model reads the same texts."""
    parts = (FORM, settings.model, settings.passage_prefix, settings.dimensions)
    return _digest(serialization.text(parts), 8).hex()


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
