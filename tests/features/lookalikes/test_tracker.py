"""Tracker: the flags in the tables of both databases follow the change log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import pytest
from attrs import define, field
from twisted.internet.task import Clock

from directory_server.domain.entries import Entry
from directory_server.domain.notes import LOOKALIKE
from directory_server.features.lookalikes import flagged as tracker_module
from directory_server.features.lookalikes.flagged import Tracker
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.services import follower as follower_module
from directory_server.services.follower import Follower
from directory_server.tables import StoredFollowers, StoredWork, Tables, notes_of_kinds

from ...contract.store import entry
from ...tables.conftest import OpenTables, TablesTest, open_store

ORIGINAL, COPY = "io.bill/weather-map", "io.bi11/WeatherMap"


async def nothing() -> None:
    """Do nothing after flags were written."""


@define
class Process:
    """A process with a tracker."""

    open_tables: OpenTables
    clock: Clock
    allowed: Sequence[str] = ()
    announced: list[str] = field(factory=list)
    follower: Follower = field(init=False)

    def __attrs_post_init__(self) -> None:
        tables = self.open_tables()
        tracker = Tracker(tables, inline, self.clock.seconds, self.allowed)
        followers, work = StoredFollowers(tables, self.clock.seconds), StoredWork(tables, self.clock.seconds)
        storage = SimpleNamespace(store=open_store(tables), followers=followers, work=work)
        self.follower = tracker.follower(storage, self.clock, lambda: self.announced.append("change"))

    def update(self) -> None:
        run_sync(self.follower.update())

    def end(self) -> None:
        run_sync(self.follower.release())


def flags(tables: Tables) -> Mapping[str, Sequence[tuple[str, str, float]]]:
    found = run_sync(tables.read(lambda rows: notes_of_kinds(rows, [LOOKALIKE])))
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

    def test_allowed_names_lose_their_flags(self, clock: Clock) -> None:
        self.publish(entry(ORIGINAL), entry(COPY))
        first = Process(self.open_tables, clock)
        first.update()
        first.end()
        Process(self.open_tables, clock, allowed=["io.b*/*"]).update()
        assert flags(self.open_tables()) == {}

    def test_small_batches_find_the_same(self, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        names = [f"io.acme/tool-{number}" for number in range(9)]
        self.publish(*map(entry, names), entry("io.acme/tool_7"), entry("io.acm3/tool-x"), entry("10.acme/tool_5"))
        monkeypatch.setattr(tracker_module, "SLICE", 3)
        monkeypatch.setattr(follower_module, "BATCH", 3)
        Process(self.open_tables, clock).update()
        assert set(flags(self.open_tables())) == {"io.acme/tool-5"}
