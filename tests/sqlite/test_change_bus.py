"""Bus of changes: it polls PRAGMA data_version."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from twisted.internet.task import Clock
from twisted.logger import Logger, formatEvent

from directory_server.domain.errors import Unavailable
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import Database, DataVersionBus, SqliteTables, sqlite_store
from directory_server.tables import StoredKeyRing

from ..conftest import Open
from ..contract.bus import BusContract
from ..contract.store import Briefs, entry


class TestDataVersionBus(BusContract):
    @pytest.fixture(autouse=True)
    def _start(self, open_database: Open) -> Iterator[None]:
        self.clock = Clock()
        self._service = DataVersionBus(open_database("directory"), self.clock)
        self._store = sqlite_store(open_database("directory"), inline, Briefs())
        self._written = 0
        self._service.startService()
        yield
        self._service.stopService()

    async def bus(self) -> DataVersionBus:
        return self._service

    async def write(self) -> None:
        self._written += 1
        await self._store.publish("a", [entry(f"x/{self._written}")])

    async def wait_a_second(self) -> None:
        self.clock.pump([0.25] * 4)


@pytest.fixture
def bus(directory_database: Database, clock: Clock) -> Iterator[DataVersionBus]:
    bus = DataVersionBus(directory_database, clock, interval=1.0)
    yield bus
    bus.stopService()


def test_wakes_for_new_and_revoked_keys(bus: DataVersionBus, clock: Clock, open_database: Open) -> None:
    woken: list[None] = []
    keys = StoredKeyRing(SqliteTables(open_database("directory")), clock.seconds)
    bus.startService()
    bus.subscribe(lambda: woken.append(None))
    key, _ = run_sync(keys.create("laptop", limit=20, expires_at=None))
    clock.advance(1)
    assert len(woken) == 1
    run_sync(keys.revoke(key.id))
    clock.advance(1)
    assert len(woken) == 2


def test_wakes_listeners_once_after_the_start(bus: DataVersionBus, clock: Clock) -> None:
    woken: list[None] = []
    bus.subscribe(lambda: woken.append(None))
    assert woken == []
    bus.startService()
    clock.advance(1)
    assert len(woken) == 1


def test_consecutive_failures_are_logged_once_and_polling_continues(
    bus: DataVersionBus,
    clock: Clock,
    directory_database: Database,
    open_database: Open,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    woken: list[None] = []
    warnings: list[str] = []
    monkeypatch.setattr(bus, "_log", Logger(observer=lambda event: warnings.append(formatEvent(event))))  # type: ignore[arg-type]
    store = sqlite_store(open_database("directory"), inline, Briefs())
    bus.startService()
    bus.subscribe(lambda: woken.append(None))

    connection = directory_database.connection

    def unavailable(**_: object) -> None:
        raise Unavailable("The disk is unavailable.")

    for failed_runs in (1, 2):
        monkeypatch.setattr(directory_database, "connection", unavailable)
        run_sync(store.publish("a", [entry(version=f"{failed_runs}.0.0")]))
        clock.pump([1.0] * 3)
        assert len(woken) == failed_runs - 1
        assert len(warnings) == failed_runs
        monkeypatch.setattr(directory_database, "connection", connection)
        clock.advance(1)
        assert len(woken) == failed_runs
