"""What a feature shows of API keys on the pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import frozen


@frozen
class KeyPart:
    """What a feature shows of each key: the values `part` of the template `template`.

    `read` gets the storage, the time in seconds since the epoch, and ids of keys. It returns values by
    the id of the key, and none for a key without the part. It raises no error.
    """

    template: str
    read: Callable[[Any, float, Sequence[str]], Awaitable[Mapping[str, object]]]


KeyPartValues = Sequence[tuple[str, Mapping[str, object]]]
"""The template of each part, and its values by the id of the key."""


async def read_key_parts(parts: Sequence[KeyPart], storage: Any, now: float, key_ids: Sequence[str]) -> KeyPartValues:
    """Return the parts of keys."""
    return [(part.template, await part.read(storage, now, key_ids)) for part in parts]
