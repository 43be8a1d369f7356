"""Tracker: the flags in the tables of both databases follow the change log, in one process at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from attrs import define, field
from twisted.internet.task import Clock

from directory_server.domain.entries import Entry
from directory_server.domain.flags import LOOKALIKE
from directory_server.features.lookalikes import tracker as tracker_module
from directory_server.features.lookalikes.tracker import LEASE, LEASE_NAME, Tracker
from directory_server.run_sync import inline, run_sync
from directory_server.tables import StoredMirrors, Tables, flags_of_kinds
from directory_server.timers import Lease

from ...contract.store import entry
from ...tables.conftest import OpenTables, TablesTest, open_store

ORIGINAL, COPY = "io.bill/weather-map", "io.bi11/WeatherMap"


@define
class Process:
    """A process with a tracker."""

    open_tables: OpenTables
    clock: Clock
    holder: str = "one"
    allowed: Sequence[str] = ()
    announced: list[str] = field(factory=list)
    tracker: Tracker = field(init=False)

    def __attrs_post_init__(self) -> None:
        tables = self.open_tables()
        self.tracker = Tracker(
            store=open_store(tables),
            lease=Lease(StoredMirrors(tables, self.clock.seconds), LEASE_NAME, LEASE, self.holder),
            tables=tables,
            offload=inline,
            now=self.clock.seconds,
            announce=lambda: self.announced.append("change"),
            allowed=self.allowed,
        )

    def update(self) -> None:
        run_sync(self.tracker.update())


def flags(tables: Tables) -> Mapping[str, Sequence[tuple[str, str, float]]]:
    found = run_sync(tables.read(lambda rows: flags_of_kinds(rows, [LOOKALIKE])))
    return {each[0].name: [(flag.other, flag.reason, flag.since) for flag in each] for each in found.values()}


class TestTracker(TablesTest):
    def publish(self, *entries: Entry) -> None:
        run_sync(open_store(self.open_tables()).publish("local", entries))

    def test_all_entries_then_each_change(self, clock: Clock) -> None:
        # Without dates the first in the order of names is the original.
        self.publish(entry(ORIGINAL), entry(COPY))
        process = Process(self.open_tables, clock)
        process.update()
        assert flags(self.open_tables()) == {ORIGINAL: [(COPY, "same_name", 1_000_000.0)]}
        assert process.announced == ["change"]
        clock.advance(60)
        self.publish(entry("io.blll/weather.map"))
        process.update()
        found = flags(self.open_tables())
        assert found["io.blll/weather.map"] == [
            (COPY, "same_name", 1_000_060.0),
            (ORIGINAL, "same_name", 1_000_060.0),
        ]
        process.update()
        assert process.announced == ["change"] * 2

    @pytest.mark.parametrize("removed", [ORIGINAL, COPY])
    def test_a_flag_ends_when_one_of_the_two_is_removed(self, clock: Clock, removed: str) -> None:
        self.publish(entry(ORIGINAL), entry(COPY))
        process = Process(self.open_tables, clock)
        process.update()
        self.publish(entry(removed, status="deleted"))
        process.update()
        assert flags(self.open_tables()) == {}

    def test_one_process_writes_at_a_time(self, clock: Clock) -> None:
        self.publish(entry(ORIGINAL), entry(COPY))
        first, second = Process(self.open_tables, clock), Process(self.open_tables, clock, holder="two")
        first.update()
        second.update()
        assert (first.announced, second.announced) == (["change"], [])
        assert second.tracker._finder is None
        # The other one continues when the lease is released, or has ended.
        run_sync(first.tracker._lease.release())
        second.update()
        assert second.tracker._finder is not None
        first.update()
        assert first.tracker._finder is None
        clock.advance(LEASE + 1)
        first.update()
        assert first.tracker._finder is not None

    def test_a_restart_writes_nothing_new(self, clock: Clock) -> None:
        self.publish(entry(ORIGINAL), entry(COPY))
        Process(self.open_tables, clock).update()
        head = run_sync(open_store(self.open_tables()).head())
        again = Process(self.open_tables, clock)
        again.update()
        assert again.announced == []
        assert run_sync(open_store(self.open_tables()).head()) == head

    def test_allowed_names_lose_their_flags(self, clock: Clock) -> None:
        self.publish(entry(ORIGINAL), entry(COPY))
        Process(self.open_tables, clock).update()
        Process(self.open_tables, clock, allowed=["io.b*/*"]).update()
        assert flags(self.open_tables()) == {}

    def test_small_batches_find_the_same(self, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        names = [f"io.acme/tool-{number}" for number in range(9)]
        self.publish(*map(entry, names), entry("io.acme/tool_7"), entry("io.acm3/tool-x"), entry("10.acme/tool_5"))
        for name in ("BATCH", "SLICE"):
            monkeypatch.setattr(tracker_module, name, 3)
        Process(self.open_tables, clock).update()
        assert set(flags(self.open_tables())) == {"io.acme/tool-5"}
