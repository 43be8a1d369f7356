"""Contract of NewSecrets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from twisted.internet.task import Clock

from directory_server.domain.keys import NewSecret
from directory_server.domain.ports.access import KeyRing
from directory_server.domain.ports.accounts import NewSecrets

from . import awaited

CREATED = NewSecret("mcpd_created", rotated=False)
ROTATED = NewSecret("mcpd_rotated", rotated=True)


class NewSecretsContract:
    """Subclasses define how to open both."""

    @pytest.fixture(autouse=True)
    def _clock(self) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)

    async def both(self, now: Callable[[], float]) -> tuple[NewSecrets, KeyRing]:
        """Return both; each call acts as another process with the same data."""
        raise NotImplementedError

    async def open(self) -> tuple[NewSecrets, str]:
        """Return the new secrets, and the id of a key."""
        secrets, keys = await self.both(self.clock.seconds)
        key, _ = await keys.create("laptop", limit=20, expires_at=None)
        return secrets, key.id

    @awaited
    async def test_gives_a_secret_once_in_any_process(self) -> None:
        secrets, key = await self.open()
        elsewhere, _ = await self.both(self.clock.seconds)
        await secrets.put("session", key, CREATED)
        assert await elsewhere.take("session", key) == CREATED
        assert await secrets.take("session", key) is None
        assert await elsewhere.take("session", key) is None

    @awaited
    async def test_gives_a_secret_to_its_session_alone(self) -> None:
        secrets, key = await self.open()
        await secrets.put("session", key, CREATED)
        for other in ("", "Session", "another session", "\udc80"):
            assert await secrets.take(other, key) is None
        assert await secrets.take("session", "nosuchid") is None
        assert await secrets.take("session", key) == CREATED

    @awaited
    async def test_keeps_the_latest_secret_of_a_key(self) -> None:
        secrets, key = await self.open()
        await secrets.put("session", key, CREATED)
        await secrets.put("session", key, ROTATED)
        assert await secrets.take("session", key) == ROTATED
        assert await secrets.take("session", key) is None

    @awaited
    async def test_keeps_the_secrets_of_sessions_apart(self) -> None:
        secrets, key = await self.open()
        await secrets.put("one", key, CREATED)
        await secrets.put("two", key, ROTATED)
        assert await secrets.take("one", key) == CREATED
        assert await secrets.take("two", key) == ROTATED

    @awaited
    async def test_forgets_a_secret_after_five_minutes(self) -> None:
        secrets, key = await self.open()
        await secrets.put("session", key, CREATED)
        self.clock.advance(299)
        await secrets.put("another", key, ROTATED)
        self.clock.advance(1)
        assert await secrets.take("session", key) is None
        assert await secrets.take("another", key) == ROTATED
