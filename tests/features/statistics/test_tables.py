"""Numbers of requests and searches on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.features.statistics.rules import Count
from directory_server.features.statistics.tables import Statistics
from directory_server.postgres import Database, PostgresTables
from directory_server.run_sync import run_sync
from directory_server.sqlite import SeparateTables

from ... import engines
from .contracts import StatisticsContract


class TestStatistics(StatisticsContract):
    @pytest.fixture(autouse=True, params=["sqlite", "postgres"])
    def _engine(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
        self.folder = tmp_path
        self.engine: engines.Engine | None = None
        if request.param == "postgres":
            self.engine = request.getfixturevalue("migrated_engine")
            self.engine.empty()
        self.opened: list[SeparateTables | Database] = []
        yield
        for opened in self.opened:
            opened.close()

    async def statistics(self) -> Statistics:
        if self.engine is None:
            separate = SeparateTables(self.folder, "statistics")
            self.opened.append(separate)
            return Statistics(separate)
        database = Database(self.engine.conninfo)
        self.opened.append(database)
        return Statistics(PostgresTables(database))


def test_the_file_is_created_at_the_first_use(tmp_path: Path) -> None:
    separate = SeparateTables(tmp_path, "statistics")
    statistics = Statistics(separate)
    assert list(tmp_path.iterdir()) == []
    run_sync(statistics.add([Count(1, "requests", "/", 1, 0)]))
    assert (tmp_path / "statistics.db").stat().st_mode & 0o777 == 0o600
    separate.close()
    with pytest.raises(Unavailable, match="closed"):
        run_sync(statistics.counts(0, 9))


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "statistics.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(Unavailable):
        run_sync(Statistics(SeparateTables(tmp_path, "statistics")).counts(0, 9))
