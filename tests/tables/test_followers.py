"""Followers of the change log, on both databases: the lease, the position, and what begins again."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import define, field
from twisted.internet.task import Clock
from twisted.logger import LogEvent

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.domain.work import Work
from directory_server.runtime.run_sync import run_sync
from directory_server.serialization import restore_entry
from directory_server.services import follower as follower_module
from directory_server.services.follower import BATCH, INTERVAL, LEASE, Follower, Later
from directory_server.tables import StoredFollowers, StoredWork

from ..contract import ContractWithClock, at_once, awaited
from ..contract.store import entry
from ..logs import captured_lines
from .conftest import OpenTables, TablesTest, open_store, run_script

NAME = "names"

SECONDS = {"seconds": LEASE}


@define
class Process:
    """A process with a follower that collects the names of entries."""

    open_tables: OpenTables
    clock: Clock
    version: str = "1"
    options: dict[str, Any] = field(factory=dict)
    error: Exception | None = field(default=None, init=False)
    seen: list[str] = field(factory=list, init=False)
    follower: Follower = field(init=False)
    followers: StoredFollowers = field(init=False)

    def __attrs_post_init__(self) -> None:
        tables = self.open_tables()
        self.followers = StoredFollowers(tables, self.clock.seconds)

        async def version() -> str:
            return self.version

        async def complete() -> bool:
            self.seen.append("complete")
            return False

        self.follower = Follower(
            SimpleNamespace(
                store=open_store(tables), followers=self.followers, work=StoredWork(tables, self.clock.seconds)
            ),
            self.clock,
            lambda: self.seen.append("announce"),
            NAME,
            self.apply,
            version=version,
            begin=lambda: self.seen.append("begin"),
            complete=complete,
            **self.options,
        )

    async def apply(self, changes: Sequence[Change]) -> bool:
        if self.error is not None:
            raise self.error
        names = [restore_entry(change.body).name if change.body else "removed" for change in changes]
        self.seen += names
        return "x/announced" in names

    def update(self) -> list[str]:
        """Look once; return what was seen."""
        self.seen.clear()
        run_sync(self.follower.update())
        return list(self.seen)

    def stop(self) -> None:
        run_sync(self.follower.release())


class TestFollower(TablesTest):
    @pytest.fixture(autouse=True)
    def _world(self, clock: Clock) -> None:
        self.clock = clock
        self.publish(entry("x/a"), entry("x/b"))

    def publish(self, *entries: Entry) -> None:
        run_sync(open_store(self.open_tables()).publish("a", entries))

    def process(self, version: str = "1", **options: Any) -> Process:
        return Process(self.open_tables, self.clock, version, options)

    def test_all_entries_then_each_change_once(self) -> None:
        process = self.process()
        assert sorted(process.update()) == ["begin", "complete", "x/a", "x/b"]
        assert process.seen[0] == "begin"
        assert process.seen[-1] == "complete"
        assert process.update() == []
        self.publish(entry("x/a", "2.0.0"), entry("x/c"))
        self.publish(entry("x/b", status="deleted"))
        assert process.update() == ["x/a", "x/c", "removed"]
        assert process.update() == []

    def test_the_analysis_of_all_entries_is_reported(self) -> None:
        process, work = self.process(), StoredWork(self.open_tables(), self.clock.seconds)
        reports: list[Work] = []

        async def apply(changes: Sequence[Change]) -> bool:
            self.clock.advance(2 * INTERVAL)
            reports.extend((await work.all()).values())
            return False

        self.publish(*(entry(f"x/{number}") for number in range(BATCH)))
        process.follower._apply = apply
        process.update()
        (report,) = reports
        assert (report.name, report.done, report.total) == (f"follow {NAME}", BATCH, BATCH + 2)
        assert run_sync(work.all())[report.name].has_ended

    def test_a_restart_continues(self) -> None:
        first = self.process()
        first.update()
        first.stop()
        self.publish(entry("x/c"))
        assert self.process().update() == ["x/c"]

    def test_what_has_changed_is_announced(self) -> None:
        process = self.process()
        process.update()
        self.publish(entry("x/announced"))
        assert process.update() == ["x/announced", "announce"]

    def test_one_process_works_until_it_stops_or_ends(self) -> None:
        first, second = self.process(), self.process("2")
        first.update()
        # The lease is renewed also without changes.
        for _ in range(5):
            self.clock.advance(LEASE / 2 + 1)
            assert (second.update(), first.update()) == ([], [])
        first.stop()
        assert sorted(second.update()) == ["begin", "complete", "x/a", "x/b"]
        self.clock.advance(LEASE - 1)
        assert first.update() == []
        # The second process has crashed.
        self.clock.advance(1)
        assert "begin" in first.update()

    def test_a_process_that_was_suspended_notices_another_holder(self) -> None:
        process = self.process()
        process.update()
        run_script(self.open_tables(), "UPDATE follower SET holder = 'other', until = until + 9")
        self.publish(entry("x/c"))
        assert process.update() == []
        self.clock.advance(LEASE + 9)
        assert process.update() == ["x/c"]

    @pytest.mark.parametrize("known", [False, True], ids=["all", "changes"])
    def test_a_process_that_lost_its_lease_stops(self, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(follower_module, "BATCH", 1)
        first, second = self.process(), self.process()
        if known:
            first.update()
            self.publish(entry("x/c"), entry("x/d"))
        applied = first.apply

        async def slow(changes: Sequence[Change]) -> bool:
            is_changed = await applied(changes)
            if len(first.seen) < 3:
                self.clock.advance(LEASE)
                run_sync(second.follower.update())
            return is_changed

        first.follower._apply = slow
        seen = first.update()
        assert len([name for name in seen if name.startswith("x/")]) == 1
        assert "complete" not in seen
        # The other one has applied all; what the first has applied since changes no position.
        assert second.update() == first.update() == []
        self.publish(entry("x/e"))
        assert second.update() == ["x/e"]

    def test_another_version_begins_again_and_misses_no_removal(self) -> None:
        first = self.process()
        first.update()
        first.stop()
        self.publish(entry("x/a", status="deleted"), entry("x/c"))
        seen = self.process("2").update()
        assert seen[0] == "begin"
        assert sorted(seen[1:3]) == ["x/b", "x/c"]
        assert seen[3:] == ["complete", "removed", "x/c"]

    def test_a_restored_backup_begins_again(self) -> None:
        process = self.process()
        process.update()
        run_script(self.open_tables(), "UPDATE log SET id = 'another'")
        assert process.update()[0] == "begin"
        assert process.update() == []

    @pytest.mark.parametrize(
        "script", ["DELETE FROM change", "DELETE FROM change WHERE seq < 5"], ids=["position after the log", "pruned"]
    )
    def test_a_position_outside_the_log_begins_again(self, script: str) -> None:
        process = self.process()
        process.update()
        self.publish(entry("x/c"))
        self.publish(entry("x/c", "2.0.0"), entry("x/d"))
        run_script(self.open_tables(), script)
        assert process.update()[0] == "begin"
        assert process.update() == []

    def test_a_crash_before_the_position_is_stored_applies_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        process = self.process()
        process.update()
        self.publish(entry("x/c"))

        async def fail(*_: object) -> bool:
            raise Unavailable("The disk is full.")

        with monkeypatch.context() as patched:
            patched.setattr(StoredFollowers, "advance", fail)
            with pytest.raises(Unavailable):
                process.update()
        assert process.seen == ["x/c"]
        assert process.update() == ["x/c"]
        assert process.update() == []

    def test_a_failure_among_all_entries_begins_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(follower_module, "BATCH", 1)
        process = self.process()
        process.error = Unavailable("The disk is full.")
        with pytest.raises(Unavailable):
            process.update()
        process.error = None
        assert process.update()[0] == "begin"
        assert process.seen[-1] == "complete"

    def test_memory_ends_with_the_lease_and_with_an_error(self) -> None:
        first, second = self.process(in_memory=True), self.process(in_memory=True)
        first.update()
        assert first.update() == []
        first.stop()
        assert second.update()[0] == "begin"
        second.stop()
        assert first.update()[0] == "begin"
        self.publish(entry("x/c"))
        first.error = Unavailable("The disk is full.")
        with pytest.raises(Unavailable):
            first.update()
        first.error = None
        assert first.update()[0] == "begin"

    def test_once_a_version(self) -> None:
        process = self.process(once=True)
        assert process.update()[-1] == "complete"
        self.publish(entry("x/c"))
        assert process.update() == []
        process.version = "2"
        assert sorted(process.update()) == ["begin", "complete", "x/a", "x/b", "x/c"]

    def test_preparation_is_of_the_holder(self) -> None:
        prepared: list[str] = []

        def preparing(name: str) -> Process:
            async def prepare() -> bool:
                prepared.append(name)
                return False

            return self.process(prepare=prepare)

        first, second = preparing("first"), preparing("second")
        for process in (first, second, first):
            process.update()
        assert prepared == ["first", "first"]

    def test_later(self) -> None:
        process = self.process()
        process.error = Later(60)
        assert process.update() == ["begin"]
        process.error = None
        self.clock.advance(59)
        assert process.update() == []
        self.clock.advance(1)
        assert process.update()[-1] == "complete"

    def test_the_service_tries_again_and_releases_at_the_end(self, logged_failures: list[LogEvent]) -> None:
        process, other = self.process(), self.process()
        process.error = Unavailable("The disk is full.")
        with captured_lines("directory_server") as lines:
            process.follower.startService()
            self.clock.pump([INTERVAL] * 3)
        assert len(lines) == 1
        process.error = None
        self.clock.advance(INTERVAL)
        assert process.seen[-1] == "complete"
        process.follower.stopService()
        self.publish(entry("x/c"))
        assert other.update() == ["x/c"]
        # A service that is started again works.
        other.stop()
        self.publish(entry("x/d"))
        process.follower.startService()
        assert process.seen[-1] == "x/d"
        process.follower.stopService()

    def test_a_stop_waits_for_one_batch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(follower_module, "BATCH", 1)
        process = self.process()
        applied = process.apply

        async def stop(changes: Sequence[Change]) -> bool:
            process.follower.stopService()
            return await applied(changes)

        process.follower._apply = stop
        process.follower.startService()
        assert len(process.seen) == 2
        assert self.process().update()[0] == "begin"


class TestLeases(TablesTest, ContractWithClock):
    async def followers(self) -> StoredFollowers:
        return StoredFollowers(self.open_tables(), self.clock.seconds)

    @awaited
    async def test_a_lease_has_one_holder_at_a_time(self) -> None:
        one, other = await self.followers(), await self.followers()
        assert await one.hold("a", "one", seconds=10.0)
        self.clock.advance(5)
        assert await one.hold("a", "one", seconds=10.0)
        self.clock.advance(9)
        assert not await other.hold("a", "other", seconds=10.0)
        assert (await other.find("a", "other", seconds=10.0)).is_held
        assert not (await one.find("a", "one", seconds=10.0)).is_held
        assert await other.hold("b", "other", seconds=10.0)
        self.clock.advance(1)
        assert not (await other.find("a", "other", seconds=10.0)).is_held
        assert await other.hold("a", "other", seconds=10.0)
        self.clock.advance(1)
        assert not await one.hold("a", "one", seconds=10.0)

    @awaited
    async def test_a_lease_from_a_clock_years_ahead_is_void(self) -> None:
        one, other = await self.followers(), await self.followers()
        self.clock.advance(1e9)
        assert await one.hold("a", "one", seconds=60.0)
        self.clock.rightNow -= 60
        assert not await other.hold("a", "other", seconds=60.0)
        assert (await other.find("a", "other", seconds=60.0)).is_held
        self.clock.rightNow -= 1
        assert not (await other.find("a", "other", seconds=60.0)).is_held
        assert await other.hold("a", "other", seconds=60.0)
        assert not await one.hold("a", "one", seconds=60.0)

    @awaited
    async def test_only_its_holder_releases_a_lease(self) -> None:
        followers = await self.followers()
        assert await followers.hold("a", "one", seconds=10.0)
        await followers.release("a", "other")
        assert not await followers.hold("a", "other", seconds=10.0)
        await followers.release("a", "one")
        assert await followers.hold("a", "other", seconds=10.0)

    @awaited
    async def test_of_holders_at_once_one_has_the_lease(self) -> None:
        for name in ("a", "b", "c"):
            followers = [await self.followers() for _ in range(5)]
            held = await at_once(*(stored.hold(name, f"{n}", seconds=10.0) for n, stored in enumerate(followers)))
            assert sum(held) == 1
        self.clock.advance(10)
        # A lease that has ended is taken over by one holder, too.
        held = await at_once(*(stored.hold("a", f"{n}", seconds=10.0) for n, stored in enumerate(followers, 10)))
        assert sum(held) == 1
