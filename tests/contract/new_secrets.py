"""Contract of NewSecrets."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.domain.keys import NewSecret
from directory_server.tables import StoredKeyRing, StoredNewSecrets

from . import ContractWithClock, awaited

CREATED = NewSecret("mcpd_created", rotated=False)
ROTATED = NewSecret("mcpd_rotated", rotated=True)


class NewSecretsContract(ContractWithClock):
    """Subclasses define how to open new secrets and a key ring."""

    async def secrets_and_keys(self, now: Callable[[], float]) -> tuple[StoredNewSecrets, StoredKeyRing]:
        """Return the new secrets and the key ring; each call acts as another process with the same data."""
        raise NotImplementedError

    async def open(self) -> tuple[StoredNewSecrets, str]:
        """Return the new secrets, and the id of a key."""
        secrets, keys = await self.secrets_and_keys(self.clock.seconds)
        key, _ = await keys.create("laptop", limit=20, expires_at=None)
        return secrets, key.id

    @awaited
    async def test_returns_a_secret_once_in_any_process(self) -> None:
        secrets, key = await self.open()
        other, _ = await self.secrets_and_keys(self.clock.seconds)
        await secrets.put("session", key, CREATED)
        assert await other.take("session", key) == CREATED
        assert await secrets.take("session", key) is None
        assert await other.take("session", key) is None

    @awaited
    async def test_returns_a_secret_to_its_session_only(self) -> None:
        secrets, key = await self.open()
        await secrets.put("session", key, CREATED)
        for session in ("", "Session", "another session", "\udc80"):
            assert await secrets.take(session, key) is None
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
    async def test_a_secret_expires_after_five_minutes(self) -> None:
        secrets, key = await self.open()
        await secrets.put("session", key, CREATED)
        self.clock.advance(299)
        await secrets.put("another", key, ROTATED)
        self.clock.advance(1)
        assert await secrets.take("session", key) is None
        assert await secrets.take("another", key) == ROTATED
