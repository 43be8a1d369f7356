"""StoredMirrors."""

from __future__ import annotations

from directory_server.domain.ports.storage import Store
from directory_server.tables import StoredMirrors

from ..contract.mirrors import MirrorsContract
from .conftest import TablesTest, open_store


class TestMirrors(TablesTest, MirrorsContract):
    async def mirrors(self) -> StoredMirrors:
        return StoredMirrors(self.open_tables(), self.clock.seconds)

    async def store(self) -> Store:
        return open_store(self.open_tables())
