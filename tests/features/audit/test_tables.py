"""The audit log on both databases."""

from __future__ import annotations

from directory_server.tables import Tables

from ...tables.conftest import TablesTest
from .contracts import AuditLogContract


class TestAuditLog(TablesTest, AuditLogContract):
    def tables(self) -> Tables:
        return self.open_tables()
