"""Contract of KeyUses."""

from __future__ import annotations

from collections.abc import Callable

from directory_server.domain.keys import Client, KeyUse
from directory_server.tables import StoredAccounts, StoredKeyRing, StoredKeyUses

from . import ContractWithClock, awaited

CURL = Client("192.0.2.0/24", "curl")


class KeyUsesContract(ContractWithClock):
    """Subclasses define how to open uses, keys and accounts."""

    async def adapters(self, now: Callable[[], float]) -> tuple[StoredKeyUses, StoredKeyRing, StoredAccounts]:
        """Return all three; each call acts as another process with the same data."""
        raise NotImplementedError

    async def open(self) -> tuple[StoredKeyUses, StoredKeyRing, StoredAccounts]:
        return await self.adapters(self.clock.seconds)

    @awaited
    async def test_returns_the_last_use_of_each_key_of_an_account(self) -> None:
        uses, keys, accounts = await self.open()
        other, _, _ = await self.open()
        owners = [await accounts.add(f"{name}@example.org") for name in ("ann", "bob")]
        ids = [
            (await keys.create("key", limit=20, expires_at=None, owner=owner))[0].id
            for owner in (owners[0].id, owners[0].id, owners[1].id, None)
        ]
        assert await uses.list(owners[0].id) == {}
        recorded = [KeyUse(key_id, 1_000.0 + number, CURL) for number, key_id in enumerate(ids)]
        await uses.record(recorded[::-1])
        assert await other.list(owners[0].id) == {use.key_id: use for use in recorded[:2]}
        assert await other.list(owners[1].id) == {recorded[2].key_id: recorded[2]}
        assert await other.of([use.key_id for use in recorded]) == {use.key_id: use for use in recorded}
        assert await other.of([ids[0], ids[3], "nosuchid", "\0"]) == {ids[0]: recorded[0], ids[3]: recorded[3]}
        assert await other.of([]) == {}
        assert await other.list("nosuchid") == await other.list("\0") == {}

    @awaited
    async def test_keeps_the_latest_use(self) -> None:
        uses, keys, accounts = await self.open()
        ann = await accounts.add("ann@example.org")
        key, _ = await keys.create("key", limit=20, expires_at=None, owner=ann.id)
        latest = KeyUse(key.id, 2_000.0, Client("2001:db8:1::/48", "Claude Code"))
        for use in (KeyUse(key.id, 1_000.0, CURL), latest, KeyUse(key.id, 1_500.0, CURL)):
            await uses.record([use])
        assert await uses.list(ann.id) == {key.id: latest}

    @awaited
    async def test_ignores_unknown_and_revoked_keys(self) -> None:
        uses, keys, accounts = await self.open()
        ann = await accounts.add("ann@example.org")
        key, _ = await keys.create("key", limit=20, expires_at=None, owner=ann.id)
        revoked, _ = await keys.create("revoked", limit=20, expires_at=None, owner=ann.id)
        await keys.revoke(revoked.id)
        use = KeyUse(key.id, 1_000.0, CURL)
        await uses.record([KeyUse(revoked.id, 1_000.0, CURL)])
        await uses.record([])
        await uses.record([KeyUse("nosuchid", 1_000.0, CURL), use, KeyUse("\0", 1_000.0, CURL)])
        assert await uses.list(ann.id) == {key.id: use}

    @awaited
    async def test_forgets_old_uses(self) -> None:
        uses, keys, accounts = await self.open()
        ann = await accounts.add("ann@example.org")
        ids = [(await keys.create("key", limit=20, expires_at=None, owner=ann.id))[0].id for _ in range(3)]
        await uses.record([KeyUse(key_id, float(number), CURL) for number, key_id in enumerate(ids)])
        await uses.forget(1.0)
        assert set(await uses.list(ann.id)) == {ids[2]}
        await uses.forget(1.0)

    @awaited
    async def test_uses_are_deleted_with_the_account(self) -> None:
        uses, keys, accounts = await self.open()
        ann = await accounts.add("ann@example.org")
        bob = await accounts.register("bob@example.org", "hash", most=9)
        for owner in (ann, bob):
            key, _ = await keys.create("key", limit=20, expires_at=None, owner=owner.id)
            await uses.record([KeyUse(key.id, 1_000.0, CURL)])
        await accounts.delete(ann.id)
        assert await accounts.remove(bob.id, before=self.clock.seconds())
        assert await uses.list(ann.id) == await uses.list(bob.id) == {}
        await uses.record([KeyUse(key.id, 2_000.0, CURL)])
