"""Contract of KeyRing: keys, secrets, labels and limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.errors import BadInput, NotFound
from directory_server.domain.keys import ApiKey
from directory_server.tables import StoredAccounts, StoredKeyRing

from . import ContractWithClock, awaited

DAY = 86_400.0


class WithKeyRing(ContractWithClock):
    """Subclasses define how to open a key ring."""

    async def keys(self, now: Callable[[], float]) -> StoredKeyRing:
        """Return a key ring; each call acts as another process with the same data."""
        raise NotImplementedError

    async def accounts(self, now: Callable[[], float]) -> StoredAccounts:
        """Return the accounts that may own keys of that key ring."""
        raise NotImplementedError

    async def wait_a_second(self) -> None:
        """Let a second pass, after which an ended key has ended in the other processes too; by default they know."""

    async def open(self) -> StoredKeyRing:
        return await self.keys(self.clock.seconds)

    async def new_key(self, keys: StoredKeyRing, label: str = "laptop") -> tuple[ApiKey, str]:
        return await keys.create(label, limit=20, expires_at=None)


class KeyRingContract(WithKeyRing):
    """Keys, their secrets, labels and limits."""

    @awaited
    async def test_creates_a_key_that_its_secret_authenticates(self) -> None:
        keys = await self.open()
        key, secret = await keys.create("laptop", limit=20, expires_at=2_000_000.0)
        assert key == ApiKey(key.id, "laptop", secret[-4:], 20, 1_000_000.0, 2_000_000.0, None)
        assert await keys.find(secret) == key

    @awaited
    async def test_creates_an_unlimited_key(self) -> None:
        keys = await self.open()
        key, secret = await keys.create("indexer", limit=None, expires_at=None)
        assert key.limit is None
        assert await keys.find(secret) == key

    @awaited
    async def test_ids_and_secrets_are_unique(self) -> None:
        keys = await self.open()
        created = [await self.new_key(keys) for _ in range(5)]
        assert len({key.id for key, _ in created}) == 5
        assert len({secret for _, secret in created}) == 5
        assert all(key.id not in secret for key, secret in created)

    @awaited
    async def test_finds_nothing_by_an_invalid_secret(self) -> None:
        keys = await self.open()
        key, secret = await self.new_key(keys)
        changed = secret[:10] + ("b" if secret[10] == "a" else "a") + secret[11:]
        for wrong in ("", "mcpd_", secret[:-1], secret + "0", secret.upper(), changed, f" {secret}", "é" * 43, key.id):
            assert await keys.find(wrong) is None

    @pytest.mark.parametrize(
        ("message", "values"),
        [
            *(
                ("label: must be 1 to 100 printable characters", {"label": label})
                for label in ("", "   ", "a\nb", "a\x00", "a" * 101)
            ),
            *(("limit: must be 1 to", {"limit": limit}) for limit in (0, -1, 10**30)),
            *(
                ("expires_at: must be in the future", {"expires_at": at})
                for at in (0.0, 1_000_000.0, float("nan"), float("inf"))
            ),
        ],
    )
    @awaited
    async def test_rejects_invalid_values_and_stores_nothing(self, message: str, values: dict[str, Any]) -> None:
        keys = await self.open()
        with pytest.raises(BadInput, match=message):
            await keys.create(**{"label": "laptop", "limit": 20, "expires_at": None, **values})
        assert list(await keys.list()) == []

    @awaited
    async def test_ends_a_key_when_it_expires(self) -> None:
        keys = await self.open()
        key, secret = await keys.create("laptop", limit=20, expires_at=self.clock.seconds() + DAY)
        self.clock.advance(DAY - 1)
        assert await keys.find(secret) == key
        self.clock.advance(1)
        assert await keys.find(secret) is None
        assert await keys.live([key.id]) == set()
        assert list(await keys.list()) == [key]

    @awaited
    async def test_revokes_a_key_at_once_and_in_other_processes_within_a_second(self) -> None:
        keys, other = await self.open(), await self.open()
        key, secret = await self.new_key(keys)
        assert await keys.find(secret) == await other.find(secret) == key
        await keys.revoke(key.id)
        assert await keys.find(secret) is None
        await self.wait_a_second()
        assert await other.find(secret) is None
        assert await other.live([key.id]) == set()

    @awaited
    async def test_revoking_again_keeps_the_first_time(self) -> None:
        keys = await self.open()
        key, _ = await self.new_key(keys)
        revoked = evolve(key, revoked_at=self.clock.seconds())
        await keys.revoke(key.id)
        self.clock.advance(60)
        await keys.revoke(key.id)
        assert list(await keys.list()) == [revoked]

    @awaited
    async def test_raises_not_found_for_an_unknown_key(self) -> None:
        keys = await self.open()
        with pytest.raises(NotFound, match="nosuchid"):
            await keys.revoke("nosuchid")
        with pytest.raises(NotFound, match="nosuchid"):
            await keys.rotate("nosuchid", grace=0)

    @awaited
    async def test_a_rotated_secret_stays_valid_for_its_grace(self) -> None:
        keys = await self.open()
        key, old = await self.new_key(keys)
        rotated, new = await keys.rotate(key.id, grace=DAY)
        assert rotated == evolve(key, last_four=new[-4:])
        assert await keys.find(new) == await keys.find(old) == rotated
        assert list(await keys.list()) == [rotated]
        self.clock.advance(DAY)
        assert await keys.find(old) is None
        assert await keys.find(new) == rotated

    @awaited
    async def test_ends_the_old_secret_at_once_without_grace(self) -> None:
        keys = await self.open()
        key, old = await self.new_key(keys)
        rotated, new = await keys.rotate(key.id, grace=0)
        assert await keys.find(old) is None
        assert await keys.find(new) == rotated

    @awaited
    async def test_a_later_rotation_never_extends_a_grace(self) -> None:
        keys = await self.open()
        key, first = await self.new_key(keys)
        _, second = await keys.rotate(key.id, grace=60)
        await keys.rotate(key.id, grace=DAY)
        self.clock.advance(60)
        assert await keys.find(first) is None
        assert await keys.find(second) is not None

    @awaited
    async def test_ends_every_secret_of_a_revoked_key(self) -> None:
        keys = await self.open()
        key, old = await self.new_key(keys)
        _, new = await keys.rotate(key.id, grace=DAY)
        await keys.revoke(key.id)
        assert await keys.find(old) is None
        assert await keys.find(new) is None

    @awaited
    async def test_rejects_the_rotation_of_an_ended_key(self) -> None:
        keys = await self.open()
        revoked, _ = await self.new_key(keys)
        await keys.revoke(revoked.id)
        expired, _ = await keys.create("laptop", limit=20, expires_at=self.clock.seconds() + 1)
        self.clock.advance(1)
        with pytest.raises(BadInput, match=f"{revoked.id} is revoked"):
            await keys.rotate(revoked.id, grace=0)
        with pytest.raises(BadInput, match=f"{expired.id} has expired"):
            await keys.rotate(expired.id, grace=0)

    @pytest.mark.parametrize("grace", [-1.0, float("nan"), float("inf")])
    @awaited
    async def test_rejects_an_invalid_grace(self, grace: float) -> None:
        keys = await self.open()
        key, secret = await self.new_key(keys)
        with pytest.raises(BadInput, match="grace: must be 0 or more seconds"):
            await keys.rotate(key.id, grace=grace)
        assert await keys.find(secret) == key

    @awaited
    async def test_live_returns_the_valid_keys(self) -> None:
        keys = await self.open()
        valid = {(await self.new_key(keys))[0].id for _ in range(3)}
        revoked, _ = await self.new_key(keys)
        await keys.revoke(revoked.id)
        assert await keys.live([*valid, revoked.id, "nosuchid"]) == valid
        assert await keys.live([]) == set()

    @awaited
    async def test_renames_a_key(self) -> None:
        keys, other = await self.open(), await self.open()
        key, secret = await self.new_key(keys)
        assert await other.find(secret) == key
        await keys.rename(key.id, "desktop")
        await self.wait_a_second()
        assert await keys.find(secret) == await other.find(secret) == evolve(key, label="desktop")
        for label in ("", "a\n", "a" * 101):
            with pytest.raises(BadInput, match="label: must be 1 to 100"):
                await keys.rename(key.id, label)
        for unknown in ("nosuchid", "\0"):
            with pytest.raises(NotFound):
                await keys.rename(unknown, "desktop")

    @awaited
    async def test_changes_the_limit_of_a_key(self) -> None:
        keys, other = await self.open(), await self.open()
        key, secret = await self.new_key(keys)
        assert await keys.find(secret) == await other.find(secret) == key
        await keys.set_limit(key.id, None)
        assert await keys.find(secret) == evolve(key, limit=None)
        await self.wait_a_second()
        assert await other.find(secret) == evolve(key, limit=None)
        await keys.set_limit(key.id, 5)
        assert list(await keys.list()) == [evolve(key, limit=5)]
        with pytest.raises(BadInput, match="limit: must be 1 to"):
            await keys.set_limit(key.id, 0)
        with pytest.raises(NotFound, match="nosuchid"):
            await keys.set_limit("nosuchid", 5)
