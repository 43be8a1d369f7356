"""PostgreSQL adapter of Store listings and Curation."""

from __future__ import annotations

from collections.abc import Sequence

from directory_server.postgres import PostgresCuration, PostgresStore
from directory_server.run_sync import inline

from ..contract.listing import ListingContract
from ..contract.store import Briefs
from .conftest import PostgresAdapterTest


class TestPostgresListing(PostgresAdapterTest, ListingContract):
    async def store(self, sources: Sequence[str] = ()) -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs(), sources)

    async def curation(self, sources: Sequence[str] = ()) -> PostgresCuration:
        return PostgresCuration(self.open_database(), sources)
