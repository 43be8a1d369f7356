"""The PublisherTokens and the PublicationLog in memory."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from ..domain.keys import digest, is_publisher_secret
from ..domain.publishers import (
    LOG_PAGE,
    LOG_SIZE,
    Publication,
    PublisherToken,
    new_publisher_token,
    unknown_publisher_token,
)
from ._access import AccessData


@frozen
class MemoryPublisherTokens:
    """Publisher tokens; `now` is in seconds since the epoch."""

    _data: AccessData
    _now: Callable[[], float]

    async def create(
        self, label: str, namespaces: Sequence[str], *, expires_at: float | None
    ) -> tuple[PublisherToken, str]:
        token, secret = new_publisher_token(label, namespaces, self._now(), expires_at)
        self._data.publishers[token.id] = token
        self._data.publisher_ids[digest(secret)] = token.id
        return token, secret

    async def find(self, secret: str) -> PublisherToken | None:
        token_id = self._data.publisher_ids.get(digest(secret), "") if is_publisher_secret(secret) else ""
        token = self._data.publishers.get(token_id)
        return token if token is not None and token.state(self._now()) == "valid" else None

    async def list(self) -> Sequence[PublisherToken]:
        return builtins.list(self._data.publishers.values())

    async def revoke(self, token_id: str) -> None:
        token = self._data.publishers.get(token_id)
        if token is None:
            raise unknown_publisher_token(token_id)
        if token.revoked_at is None:
            self._data.publishers[token_id] = evolve(token, revoked_at=self._now())


@frozen
class MemoryPublicationLog:
    """The audit log. `size` is the most records."""

    _data: AccessData
    _size: int = LOG_SIZE

    async def add(self, record: Publication) -> int:
        self._data.published += 1
        number = self._data.published
        self._data.publications[number] = record
        self._data.publications.pop(number - self._size, None)
        return number

    async def finish(self, number: int, outcome: str) -> None:
        if number in self._data.publications:
            self._data.publications[number] = evolve(self._data.publications[number], outcome=outcome)

    async def newest(self, limit: int = LOG_PAGE, before: int | None = None) -> Sequence[tuple[int, Publication]]:
        found = [each for each in reversed(self._data.publications.items()) if before is None or each[0] < before]
        return found[: min(limit, LOG_PAGE)]

    async def forget(self, before: float) -> None:
        self._data.publications = {number: each for number, each in self._data.publications.items() if each.at > before}
