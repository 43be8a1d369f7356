"""The NewSecrets in memory."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ..domain.keys import NewSecret
from ..domain.secrets import digest
from ._data import AccessData

LIFETIME = 300.0
"""Seconds for which a new secret can be read."""


@frozen
class MemoryNewSecrets:
    """New secrets of keys; `now` is in seconds since the epoch."""

    _data: AccessData
    _now: Callable[[], float]

    async def put(self, session: str, key_id: str, new: NewSecret) -> None:
        self._data.new_secrets[digest(session), key_id] = new, self._now() + LIFETIME

    async def take(self, session: str, key_id: str) -> NewSecret | None:
        new, expires_at = self._data.new_secrets.pop((digest(session), key_id), (None, 0.0))
        return new if self._now() < expires_at else None
