"""Contract of KeyRing: keys that belong to accounts."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.errors import NotFound, TooManyKeys
from directory_server.domain.keys import ApiKey

from . import awaited
from .keyring import DAY, WithKeyRing


class OwnedKeysContract(WithKeyRing):
    """Keys that accounts own, and how they end with their owner."""

    @awaited
    async def test_returns_when_replaced_secrets_end(self) -> None:
        keys, accounts = await self.open(), await self.accounts(self.clock.seconds)
        ann, bob = await accounts.add("ann@example.org"), await accounts.add("bob@example.org")
        rotated, _ = await keys.create("laptop", limit=20, expires_at=None, owner=ann.id)
        await keys.create("phone", limit=20, expires_at=None, owner=ann.id)
        at_once, _ = await keys.create("leaked", limit=20, expires_at=None, owner=ann.id)
        of_bob, _ = await keys.create("laptop", limit=20, expires_at=None, owner=bob.id)
        now = self.clock.seconds()
        assert await keys.replaced(ann.id) == {}
        await keys.rotate(rotated.id, grace=DAY)
        await keys.rotate(rotated.id, grace=60)
        await keys.rotate(at_once.id, grace=0)
        await keys.rotate(of_bob.id, grace=DAY)
        # The secret that was replaced last ends earlier here: a later rotation does not extend it.
        assert await keys.replaced(ann.id) == {rotated.id: now + 60}
        assert await keys.replaced(bob.id) == {of_bob.id: now + DAY}
        assert await keys.replaced("a\0b") == await keys.replaced("nobody") == {}
        self.clock.advance(60)
        assert await keys.replaced(ann.id) == {}

    @awaited
    async def test_returns_the_keys_that_ended_a_short_time_ago(self) -> None:
        keys, accounts = await self.open(), await self.accounts(self.clock.seconds)
        ann = await accounts.add("ann@example.org")
        now = self.clock.seconds()
        await self.new_key(keys)
        revoked, _ = await self.new_key(keys)
        expired, _ = await keys.create("laptop", limit=20, expires_at=now + 20)
        await keys.create("laptop", limit=20, expires_at=now + 100)
        owned, _ = await keys.create("laptop", limit=20, expires_at=None, owner=ann.id)
        assert await keys.ended(DAY) == set()
        self.clock.advance(10)
        await keys.revoke(revoked.id)
        self.clock.advance(10)
        await accounts.disable(ann.id)
        assert await (await self.open()).ended(DAY) == {revoked.id, expired.id, owned.id}
        assert await keys.ended(5) == {expired.id, owned.id}
        self.clock.advance(5)
        assert await keys.ended(5) == set()
        await accounts.enable(ann.id)
        assert await keys.ended(DAY) == {revoked.id, expired.id}

    @awaited
    async def test_lists_the_keys_of_an_owner(self) -> None:
        keys, accounts = await self.open(), await self.accounts(self.clock.seconds)
        ann, bob = await accounts.add("ann@example.org"), await accounts.add("bob@example.org")
        await self.new_key(keys)
        created = [
            (await keys.create(label, limit=20, expires_at=None, owner=owner.id))[0]
            for label, owner in [("laptop", ann), ("desktop", bob), ("phone", ann)]
        ]
        assert [key.owner for key in await keys.list()] == [None, ann.id, bob.id, ann.id]
        assert list(await keys.list(ann.id)) == [created[0], created[2]]
        assert list(await keys.list("nosuchid")) == []

    @awaited
    async def test_limits_the_keys_of_an_owner_and_counts_ended_keys_for_an_hour(self) -> None:
        keys, accounts = await self.open(), await self.accounts(self.clock.seconds)
        ann, bob = await accounts.add("ann@example.org"), await accounts.add("bob@example.org")

        async def create(owner: str = ann.id, expires_at: float | None = None) -> ApiKey:
            return (await keys.create("laptop", limit=20, expires_at=expires_at, owner=owner, most=2))[0]

        first = await create()
        await create(expires_at=self.clock.seconds() + DAY)
        await create(bob.id)
        with pytest.raises(TooManyKeys, match="the limit of 2 keys"):
            await create()
        await keys.revoke(first.id)
        with pytest.raises(TooManyKeys):
            await create()
        self.clock.advance(3600)
        await create()
        with pytest.raises(TooManyKeys):
            await create()
        self.clock.advance(DAY)
        await create()
        assert len(await keys.list(ann.id)) == 4

    @awaited
    async def test_keys_share_a_quota_until_their_owner_is_approved(self) -> None:
        keys, accounts = await self.open(), await self.accounts(self.clock.seconds)
        ann = await accounts.register("ann@example.org", "hash", most=9)
        key, secret = await keys.create("laptop", limit=20, expires_at=None, owner=ann.id)
        assert (key.shared, key.quota_id) == (ann.id, ann.id)
        assert await keys.find(secret) == key
        assert list(await keys.list(ann.id)) == [key]
        await accounts.approve(ann.id)
        approved = await keys.find(secret)
        assert approved == evolve(key, shared=None)
        assert approved
        assert approved.quota_id == key.id

    @awaited
    async def test_deletes_the_keys_of_a_removed_account(self) -> None:
        keys, accounts = await self.open(), await self.accounts(self.clock.seconds)
        ann = await accounts.register("ann@example.org", "hash", most=9)
        key, secret = await keys.create("laptop", limit=20, expires_at=None, owner=ann.id)
        kept, kept_secret = await self.new_key(keys)
        await keys.rotate(key.id, grace=DAY)
        assert await keys.find(secret)
        assert await accounts.remove(ann.id, before=self.clock.seconds())
        assert await keys.find(secret) is None
        assert await keys.live([key.id, kept.id]) == {kept.id}
        assert list(await keys.list()) == [kept]
        assert await keys.find(kept_secret) == kept

    @awaited
    async def test_rejects_a_key_of_a_disabled_owner(self) -> None:
        keys, accounts = await self.open(), await self.accounts(self.clock.seconds)
        ann = await accounts.add("ann@example.org")
        key, secret = await keys.create("laptop", limit=20, expires_at=None, owner=ann.id)
        assert await keys.find(secret) == key
        assert await keys.live([key.id]) == {key.id}
        await accounts.disable(ann.id)
        assert await keys.find(secret) is None
        assert await keys.live([key.id]) == set()
        await accounts.enable(ann.id)
        assert await keys.find(secret) == key

    @awaited
    async def test_keys_of_a_deleted_account_end_as_revoked_keys_do(self) -> None:
        keys, other, accounts = await self.open(), await self.open(), await self.accounts(self.clock.seconds)
        ann, bob = await accounts.add("ann@example.org"), await accounts.add("bob@example.org")
        one, secret = await keys.create("one", limit=20, expires_at=None, owner=ann.id)
        two, _ = await keys.create("two", limit=20, expires_at=None, owner=ann.id)
        of_bob, kept = await keys.create("three", limit=20, expires_at=None, owner=bob.id)
        await keys.rotate(two.id, grace=DAY)
        assert await other.find(secret) == one
        await accounts.delete(ann.id)
        await self.wait_a_second()
        assert await keys.find(secret) is None
        assert await other.find(secret) is None
        assert await other.find(kept) == of_bob
        assert await keys.live([one.id, two.id, of_bob.id]) == {of_bob.id}
        assert await keys.ended(60.0) == {one.id, two.id}
        assert list(await keys.list()) == [of_bob]
        with pytest.raises(NotFound):
            await keys.rotate(one.id, grace=0)
        self.clock.advance(DAY)
        await accounts.delete(bob.id)
        assert await keys.ended(60.0) == {of_bob.id}
