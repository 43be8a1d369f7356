"""StoredRoster."""

from __future__ import annotations

from directory_server.domain.accounts import AccountState
from directory_server.domain.roster import RosterCounts, RosterTotals
from directory_server.tables import StoredAccounts, StoredKeyRing, StoredRoster

from ..contract import ContractWithClock, awaited
from .conftest import TablesTest


class TestRoster(TablesTest, ContractWithClock):
    async def open(self) -> tuple[StoredRoster, StoredAccounts, StoredKeyRing]:
        """Return the adapters of one process."""
        tables, now = self.open_tables(), self.clock.seconds
        return StoredRoster(tables), StoredAccounts(tables, now), StoredKeyRing(tables, now)

    @awaited
    async def test_an_empty_directory_has_no_accounts_and_no_keys(self) -> None:
        roster, _, _ = await self.open()
        assert list(await roster.accounts(limit=5)) == []
        assert list(await roster.keys(limit=5)) == []
        assert await roster.account("nosuchid") is None
        assert await roster.key("nosuchid") is None
        assert await roster.counts(9) == RosterCounts(0, 0, 0)
        assert await roster.totals(self.clock.seconds()) == RosterTotals(0, 0, {})

    @awaited
    async def test_lists_accounts_with_their_number_of_keys_newest_first(self) -> None:
        roster, accounts, keys = await self.open()
        ann = await accounts.add("ann@example.org")
        self.clock.advance(1)
        bob = await accounts.add("bob@example.net")
        for label in ("laptop", "phone", "old"):
            key, _ = await keys.create(label, limit=20, expires_at=None, owner=ann.id)
        await keys.revoke(key.id)
        found = await roster.accounts(limit=5)
        assert [(each.account, each.keys) for each in found] == [(bob, 0), (ann, 2)]
        assert await roster.account(ann.id) == found[1]
        assert await roster.counts(9) == RosterCounts(2, 0, 2)

    @awaited
    async def test_lists_all_accounts_and_keys_oldest_first(self) -> None:
        roster, accounts, keys = await self.open()
        assert list(await roster.all_accounts(limit=5)) == []
        assert list(await roster.all_keys(limit=5)) == []
        ann, bob = await accounts.add("ann@example.org"), await accounts.add("bob@example.net")
        owners = (ann.id, None, bob.id, ann.id)
        created = [await keys.create(f"key {owner}", limit=20, expires_at=None, owner=owner) for owner in owners]
        await keys.rotate(created[0][0].id, grace=60)
        await keys.revoke(created[3][0].id)
        listed = await keys.list()
        found = list(await roster.all_keys(limit=3))
        found += await roster.all_keys(after=found[-1].number, limit=3)
        assert [each.key for each in found] == list(listed)
        assert [each.email for each in found] == [ann.email, "", bob.email, ann.email]
        assert [each.use for each in found] == [None] * 4
        assert list(await roster.all_keys(after=found[-1].number, limit=3)) == []
        (first,) = await roster.all_accounts(limit=1)
        (second,) = await roster.all_accounts(after=first.number, limit=2)
        assert [(each.account, each.keys) for each in (first, second)] == [(ann, 1), (bob, 1)]
        assert list(await roster.all_accounts(after=second.number, limit=2)) == []

    @awaited
    async def test_finds_accounts_by_a_part_of_the_address(self) -> None:
        roster, accounts, _ = await self.open()
        ann = await accounts.add("ann@example.org")
        await accounts.add("bob@example.net")
        for text in ("ANN", " ann@", "example.ORG", "n@e"):
            assert [each.account for each in await roster.accounts(text, limit=5)] == [ann]
        # Characters with a meaning in patterns have none here.
        for text in ("%", "_", "'", "\\", "x" * 5000, "\udc80é"):
            assert list(await roster.accounts(text, limit=5)) == []
        assert len(await roster.accounts("\0", limit=5)) == 2

    @awaited
    async def test_pages_accounts_and_keys(self) -> None:
        roster, accounts, keys = await self.open()
        # Two of each have the same time.
        for number in range(5):
            self.clock.advance(number % 2)
            account = await accounts.add(f"user{number}@example.org")
            await keys.create(f"key {number}", limit=20, expires_at=None, owner=account.id)
        everybody = [each.account.id for each in await roster.accounts(limit=9)]
        every_key = [each.key.id for each in await roster.keys(limit=9)]
        assert (len(everybody), len(every_key)) == (5, 5)
        first = await roster.accounts("user", limit=2)
        second = await roster.accounts("user", after=first[-1].account.id, limit=2)
        third = await roster.accounts("user", after=second[-1].account.id, limit=2)
        assert [each.account.id for each in (*first, *second, *third)] == everybody
        assert [each.key.id for each in await roster.keys(after=every_key[1], limit=2)] == every_key[2:4]
        for unknown in ("nosuchid", "\0"):
            assert list(await roster.accounts(after=unknown, limit=2)) == []
            assert list(await roster.keys(after=unknown, limit=2)) == []

    @awaited
    async def test_lists_keys_that_are_not_revoked_with_their_owners(self) -> None:
        roster, accounts, keys = await self.open()
        bob = await accounts.register("bob@example.org", "hash", most=5)
        own, _ = await keys.create("Indexer", limit=None, expires_at=None)
        self.clock.advance(1)
        his, _ = await keys.create("laptop", limit=20, expires_at=1_000_100.0, owner=bob.id)
        gone, _ = await keys.create("gone", limit=20, expires_at=None)
        await keys.revoke(gone.id)
        found = await roster.keys(limit=5)
        assert [(each.key, each.email) for each in found] == [(his, "bob@example.org"), (own, "")]
        assert found[0].key.shared == bob.id
        assert await roster.key(own.id) == found[1]
        assert await roster.key(gone.id) is None
        assert [each.key.id for each in await roster.keys(owner=bob.id, limit=5)] == [his.id]
        for text, expected in (("INDEX", own), ("bob@", his), (his.id[2:], his), ("Lap", his)):
            assert [each.key.id for each in await roster.keys(text, limit=5)] == [expected.id]
        assert list(await roster.keys("%", limit=5)) == []

    @awaited
    async def test_counts_up_to_a_bound(self) -> None:
        roster, accounts, keys = await self.open()
        for number in range(4):
            account = await accounts.register(f"user{number}@example.org", "hash", most=5)
            if number < 2:
                await accounts.disable(account.id)
            await keys.create("laptop", limit=20, expires_at=None)
        assert await roster.counts(9) == RosterCounts(4, 2, 4)
        assert await roster.counts(2) == RosterCounts(3, 2, 3)
        assert await roster.counts(0) == RosterCounts(1, 1, 1)

    @awaited
    async def test_totals_keys_and_accounts_by_state(self) -> None:
        roster, accounts, keys = await self.open()
        await accounts.add("invited@example.org")
        for number in range(2):
            await accounts.add(f"active{number}@example.org", "hash")
        await accounts.register("pending@example.org", "hash", most=5)
        disabled = await accounts.register("disabled@example.org", "hash", most=5)
        await accounts.disable(disabled.id)
        for expires_at in (None, self.clock.seconds() + 1, self.clock.seconds() + 2):
            key, _ = await keys.create("laptop", limit=20, expires_at=expires_at)
        await keys.revoke(key.id)
        states: dict[AccountState, int] = {"active": 2, "invited": 1, "pending": 1, "disabled": 1}
        assert await roster.totals(self.clock.seconds()) == RosterTotals(3, 2, states)
        self.clock.advance(1)
        assert await roster.totals(self.clock.seconds()) == RosterTotals(3, 1, states)

    @awaited
    async def test_pages_the_keys_of_an_owner(self) -> None:
        roster, accounts, keys = await self.open()
        ann, bob = await accounts.add("ann@example.org"), await accounts.add("bob@example.org")
        made = []
        for number in range(3):
            for owner in (ann, bob):
                self.clock.advance(1)
                made.append((await keys.create(f"key {number}", limit=20, expires_at=None, owner=owner.id))[0])
        first = await roster.keys(owner=bob.id, limit=2)
        assert [each.key for each in first] == [made[5], made[3]]
        assert [each.key for each in await roster.keys(owner=bob.id, after=made[3].id, limit=2)] == [made[1]]
        assert [each.key for each in await roster.keys("key 0", owner=bob.id, limit=2)] == [made[1]]
        assert [each.key for each in await roster.keys("BOB@", limit=2)] == [made[5], made[3]]
        assert list(await roster.keys("bob@", owner=ann.id, limit=2)) == []
