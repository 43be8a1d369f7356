"""Verifications."""

from __future__ import annotations

from directory_server.domain.ports.storage import Store
from directory_server.features.verification.tables import Verifications
from directory_server.sqlite import SqliteTables

from ...tables.conftest import TablesTest, number, open_store, run_script
from .package_texts import PackageTextsContract


class TestVerifications(TablesTest, PackageTextsContract):
    async def verifications(self) -> Verifications:
        return Verifications(self.open_tables(), self.clock.seconds)

    async def store(self) -> Store:
        return open_store(self.open_tables())

    async def texts(self) -> int:
        return number(self.open_tables(), "SELECT count(*) FROM package_texts")

    def folder(self) -> str:
        return "sqlite/schema/directory" if isinstance(self.open_tables(), SqliteTables) else "postgres/schema"

    def renaming(self) -> str:
        renamed = """replace({}, '"status":"moved"', '"status":"redirects"')"""
        if isinstance(self.open_tables(), SqliteTables):
            state = f"CAST({renamed.format('CAST(state AS TEXT)')} AS BLOB)"
        else:
            text = "convert_from(state, 'UTF8')"
            state = f"convert_to({renamed.format(text)}, 'UTF8')"
        return f"UPDATE target SET state = {state}"

    def run(self, script: str) -> None:
        run_script(self.open_tables(), script)
