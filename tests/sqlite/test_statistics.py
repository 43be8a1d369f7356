"""The SQLite adapter of Statistics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from directory_server.domain.errors import Unavailable
from directory_server.domain.statistics import Count
from directory_server.run_sync import run_sync
from directory_server.sqlite import SqliteStatistics

from ..contract.statistics import StatisticsContract


class TestSqliteStatistics(StatisticsContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> Iterator[None]:
        self.folder = tmp_path
        self.opened: list[SqliteStatistics] = []
        yield
        for each in self.opened:
            each.close()

    async def statistics(self) -> SqliteStatistics:
        self.opened.append(SqliteStatistics(self.folder))
        return self.opened[-1]


def test_the_file_is_created_at_the_first_use(tmp_path: Path) -> None:
    statistics = SqliteStatistics(tmp_path)
    assert list(tmp_path.iterdir()) == []
    run_sync(statistics.add([Count(1, "requests", "/", 1, 0)]))
    assert (tmp_path / "statistics.db").stat().st_mode & 0o777 == 0o600
    statistics.close()
    with pytest.raises(Unavailable, match="closed"):
        run_sync(statistics.counts(0, 9))


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "statistics.db").write_bytes(b"not a database" * 1000)
    statistics = SqliteStatistics(tmp_path)
    with pytest.raises(Unavailable):
        run_sync(statistics.counts(0, 9))
