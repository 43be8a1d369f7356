"""StoredMirrors."""

from __future__ import annotations

from attrs import evolve

from directory_server.domain.ports.storage import Store
from directory_server.domain.upstreams import MAX_RUNS, FinishedRun, SyncProgress, UpstreamState
from directory_server.serialization import restore_entry
from directory_server.tables import StoredFollowers, StoredMirrors

from ..contract import ContractWithClock, awaited
from ..contract.store import entry
from .conftest import TablesTest, open_store


class TestMirrors(TablesTest, ContractWithClock):
    async def mirrors(self) -> StoredMirrors:
        tables = self.open_tables()
        return StoredMirrors(tables, StoredFollowers(tables, self.clock.seconds))

    async def store(self) -> Store:
        return open_store(self.open_tables())

    @awaited
    async def test_an_unknown_upstream_has_an_empty_state(self) -> None:
        mirrors = await self.mirrors()
        assert await mirrors.get("a") == UpstreamState("a")
        assert list(await mirrors.all()) == []

    @awaited
    async def test_stores_every_field(self) -> None:
        mirrors = await self.mirrors()
        state = UpstreamState(
            "b", "q", 1.5, 2.5, 3.5, "No.", 4, 5, 6.5, '"7"', "8", 9, 10.5, SyncProgress(True, 11.5, "12")
        )
        await mirrors.put(state)
        await mirrors.put(UpstreamState("a"))
        assert await (await self.mirrors()).get("b") == state
        assert list(await mirrors.all()) == [UpstreamState("a"), state]
        await mirrors.put(evolve(state, progress=None))
        assert (await mirrors.get("b")).progress is None

    @awaited
    async def test_returns_entries_not_seen_by_the_full_sync(self) -> None:
        mirrors, store = await self.mirrors(), await self.store()
        await store.publish("a", [entry(f"x/{letter}", version) for letter in "abcd" for version in ("1.0.0", "2.0.0")])
        await store.publish("a", [entry("x/d", "1.0.0", status="deleted"), entry("x/d", "2.0.0", status="deleted")])
        await store.publish("b", [entry("x/e")])
        await mirrors.put(UpstreamState("a"), seen={"x/b": True})
        await mirrors.put(UpstreamState("a"), seen={"x/a": True, "x/b": False})
        await mirrors.put(UpstreamState("b"), seen={"x/c": True})
        assert await mirrors.count_seen("a") == 2
        assert await mirrors.entries("a") == 3
        unseen = [restore_entry(body) for body in await mirrors.unseen("a", 9)]
        assert sorted((each.name, each.version) for each in unseen) == [
            (f"x/{letter}", version) for letter in "bc" for version in ("1.0.0", "2.0.0")
        ]
        assert len(await mirrors.unseen("a", 3)) == 3
        await mirrors.forget_seen("a")
        assert await mirrors.count_seen("a") == 0
        assert await mirrors.count_seen("b") == 1

    @awaited
    async def test_returns_the_stored_versions_of_names(self) -> None:
        mirrors, store = await self.mirrors(), await self.store()
        await store.publish("a", [entry("x/a", "1.0.0", isLatest=True), entry("x/a", "2.0.0"), entry("x/b", "1.0.0")])
        await store.publish("a", [entry("x/c", "1.0.0", status="deleted", isLatest=True)])
        await store.publish("b", [entry("x/a", "3.0.0", isLatest=True)])
        assert await mirrors.versions("a", {"x/a", "x/c", "x/none", "\0", "\ud800"}) == {
            ("x/a", "1.0.0"): True,
            ("x/a", "2.0.0"): False,
            ("x/c", "1.0.0"): True,
        }
        await store.publish("a", [entry("x/a", "2.0.0", isLatest=True)])
        assert await mirrors.versions("a", ["x/a"]) == {("x/a", "1.0.0"): False, ("x/a", "2.0.0"): True}
        assert await mirrors.versions("a", []) == {}

    @awaited
    async def test_an_upstream_has_one_lease(self) -> None:
        one, other = await self.mirrors(), await self.mirrors()
        assert await one.hold("a", "one", seconds=10.0)
        assert not await other.hold("a", "other", seconds=10.0)
        assert await other.hold("b", "other", seconds=10.0)
        await one.release("a", "one")
        assert await other.hold("a", "other", seconds=10.0)

    @awaited
    async def test_an_error_may_quote_any_text(self) -> None:
        mirrors = await self.mirrors()
        await mirrors.put(UpstreamState("a", error="It sent \0 and \udc80.", next_run=5.0))
        state = await mirrors.get("a")
        assert state.next_run == 5.0
        assert state.error.startswith("It sent ")

    @awaited
    async def test_the_last_runs_of_each_upstream_stay(self) -> None:
        mirrors = await self.mirrors()
        assert list(await mirrors.runs("a")) == []
        first = FinishedRun(1.5, 2.5, True, 3, 4, 5, 6, 7, "No.", "Skipped: 1.")
        await mirrors.put(UpstreamState("a"), run=first)
        await mirrors.put(UpstreamState("a"))
        await mirrors.put(UpstreamState("b"), run=FinishedRun(0.0, 1.0, False))
        assert list(await (await self.mirrors()).runs("a")) == [first]
        for number in range(MAX_RUNS):
            # The clock goes back: the order is that of the ends of the runs.
            await mirrors.put(UpstreamState("a"), run=FinishedRun(-float(number), 0.0, False, number))
        assert [run.entries for run in await mirrors.runs("a")] == list(reversed(range(MAX_RUNS)))
        assert len(await mirrors.runs("b")) == 1

    @awaited
    async def test_the_error_of_a_run_may_quote_any_text(self) -> None:
        mirrors = await self.mirrors()
        await mirrors.put(UpstreamState("a"), run=FinishedRun(1.0, 2.0, False, error="It sent \0 and \udc80."))
        (run,) = await mirrors.runs("a")
        assert run.error.startswith("It sent ")
