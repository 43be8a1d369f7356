"""PostgreSQL adapter of Mirrors."""

from __future__ import annotations

from directory_server.postgres import PostgresMirrors, PostgresStore
from directory_server.run_sync import inline

from ..contract.mirrors import MirrorsContract
from ..contract.store import Briefs
from .conftest import PostgresAdapterTest


class TestPostgresMirrors(PostgresAdapterTest, MirrorsContract):
    async def mirrors(self) -> PostgresMirrors:
        return PostgresMirrors(self.open_database(), self.clock.seconds)

    async def store(self) -> PostgresStore:
        return PostgresStore(self.open_database(), inline, Briefs())
