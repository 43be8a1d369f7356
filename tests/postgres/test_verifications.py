"""PostgreSQL adapter of Verifications."""

from __future__ import annotations

from directory_server.postgres import PostgresStore, PostgresVerifications
from directory_server.run_sync import inline

from ..contract.store import Briefs
from ..contract.verifications import VerificationsContract
from .conftest import PostgresAdapterTest


class TestPostgresVerifications(PostgresAdapterTest, VerificationsContract):
    async def verifications(self) -> PostgresVerifications:
        return PostgresVerifications(self.open_database(), self.clock.seconds)

    async def store(self) -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs())
