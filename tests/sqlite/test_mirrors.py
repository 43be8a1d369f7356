from __future__ import annotations

import pytest

from directory_server.run_sync import inline
from directory_server.sqlite import SqliteMirrors, SqliteStore

from ..contract.mirrors import MirrorsContract
from ..contract.store import Briefs
from .conftest import Open


class TestSqliteMirrors(MirrorsContract):
    @pytest.fixture(autouse=True)
    def _databases(self, open_database: Open) -> None:
        self._open = open_database

    async def mirrors(self) -> SqliteMirrors:
        return SqliteMirrors(self._open("directory"), inline)

    async def store(self) -> SqliteStore:
        return SqliteStore(self._open("directory"), inline, Briefs())
