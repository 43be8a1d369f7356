"""Requests for a larger limit on both databases."""

from __future__ import annotations

import pytest

from directory_server.domain.errors import NotFound
from directory_server.features.quota_requests.tables import QuotaRequest, QuotaRequests
from directory_server.tables import StoredAccounts, StoredKeyRing

from ...contract import awaited
from ...tables.conftest import TablesTest


class TestQuotaRequests(TablesTest):
    @awaited
    async def test_stores_and_decides_the_last_request_of_an_account(self) -> None:
        tables = self.open_tables()
        requests, accounts = QuotaRequests(tables), StoredAccounts(tables, lambda: 1.0)
        ann, bob = [await accounts.add(f"{name}@example.org") for name in ("ann", "bob")]
        first = QuotaRequest(ann.id, 500, "Agents.", 20.0)
        await requests.put(first)
        await requests.put(QuotaRequest(bob.id, 50, "Tests.", 10.0))
        await requests.put(QuotaRequest(ann.id, 900, "More.", 30.0))
        assert [asked.account for asked in await requests.open(9)] == [bob.id, ann.id]
        assert await requests.find(ann.id) == first
        await requests.decide(ann.id, 40.0, 300)
        assert await requests.find(ann.id) == QuotaRequest(ann.id, 500, "Agents.", 20.0, 40.0, 300)
        with pytest.raises(NotFound):
            await requests.decide(ann.id, 50.0, None)
        with pytest.raises(NotFound):
            await requests.decide("\0", 50.0, None)
        assert await requests.count() == 1
        again = QuotaRequest(ann.id, 900, "More.", 60.0)
        await requests.put(again)
        assert await requests.find(ann.id) == again
        await accounts.delete(ann.id)
        assert await requests.find(ann.id) is None

    @awaited
    async def test_the_limit_of_an_account_is_that_of_its_keys(self) -> None:
        tables = self.open_tables()
        accounts, keys = StoredAccounts(tables, lambda: 1.0), StoredKeyRing(tables, lambda: 1.0)
        ann = await accounts.add("ann@example.org")
        for owner in (ann.id, ann.id, None):
            await keys.create("key", limit=20, expires_at=None, owner=owner)
        await accounts.set_limit(ann.id, 300)
        assert sorted(key.limit or 0 for key in await keys.list()) == [20, 300, 300]
