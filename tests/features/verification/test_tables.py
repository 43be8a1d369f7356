"""Verifications on both databases: leases, checks, summaries, and the texts of packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.checks import (
    MAX_TOOLS,
    IndexedVerification,
    PackageStatus,
    PackageTexts,
    RemoteStatus,
    VerifiedStatus,
)
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.ports.storage import Store
from directory_server.domain.tools import OfferedTool, hinted_values
from directory_server.features.verification.results import MAX_TOOL_NAMES, FoundTool, PackageCheck, RemoteCheck
from directory_server.features.verification.settings import VerifyConfig
from directory_server.features.verification.tables import Verifications
from directory_server.features.verification.targets import Target, TargetKind, TargetState
from directory_server.serialization import encode_texts, restore_indexed
from directory_server.sqlite import SqliteTables
from directory_server.upgrades import former_steps

from ...contract import ContractWithClock, at_once, awaited
from ...contract.store import entry
from ...tables.conftest import TablesTest, number, open_store, run_script

HOUR, DAY = 3_600.0, 86_400.0
SETTINGS = VerifyConfig(history=3)
BOTH = (TargetKind.REMOTE, TargetKind.PACKAGE)
TEXTS = PackageTexts("Forecasts.", ("weather",), "Ask for storms.")
NAMES = ("x/a", "x/b")
TOOL = FoundTool(
    "get_forecast",
    "Returns the forecast.",
    '{"properties":{"city":{"type":"string"}},"required":["city"]}',
    "Forecast",
    {"readOnlyHint": True},
    "city: string",
)


def remote(name: str = "x/a", url: str = "https://a.example/mcp") -> Target:
    return Target(name, TargetKind.REMOTE, "streamable-http", url)


def package(name: str = "x/a", identifier: str = "a") -> Target:
    return Target(name, TargetKind.PACKAGE, "npm", identifier, "1.0.0")


def by_id(*targets: Target) -> Mapping[str, Sequence[Target]]:
    """Return `targets` by the ids of their entries."""
    return {mcp_id_of(each.name): [other for other in targets if other.name == each.name] for each in targets}


class TestVerifications(TablesTest, ContractWithClock):
    def verifications(self) -> Verifications:
        return Verifications(self.open_tables(), self.clock.seconds)

    def store(self) -> Store:
        return open_store(self.open_tables())

    def checked(self, target: Target, status: str = "works", **fields: Any) -> RemoteCheck | PackageCheck:
        """Return a check of `target` now."""
        now = self.clock.seconds()
        if target.kind is TargetKind.REMOTE:
            return RemoteCheck(target.identifier, target.type, now, RemoteStatus(status), **fields)
        return PackageCheck(target.type, target.identifier, target.version, now, PackageStatus(status), **fields)

    async def claim(self, verifications: Verifications, holder: str = "one", limit: int = 9) -> list[Target]:
        claimed = await verifications.claim(holder, limit, seconds=60.0, kinds=BOTH, except_hosts=())
        return list(claimed)

    @awaited
    async def test_is_empty_at_first(self) -> None:
        verifications = self.verifications()
        assert await self.claim(verifications) == []
        assert list(await verifications.states(mcp_id_of("x/a"))) == []
        assert list(await verifications.summaries(0, 9)) == []
        assert await verifications.due(BOTH) == 0
        assert await verifications.forget() == 0

    @awaited
    async def test_claims_due_targets_of_different_hosts(self) -> None:
        verifications = self.verifications()
        same_host = [remote(f"x/{n}", f"https://a.example/{n}") for n in range(5)]
        await verifications.put_targets(by_id(*same_host))
        self.clock.advance(1)
        other = remote("x/other", "https://b.example/mcp")
        await verifications.put_targets(by_id(other, package("x/other")))
        assert await verifications.due([TargetKind.REMOTE]) == 6
        claimed = await verifications.claim("one", 9, seconds=60.0, kinds=[TargetKind.REMOTE], except_hosts=())
        assert claimed[0] in same_host
        assert list(claimed[1:]) == [other]
        free = await verifications.claim("one", 9, seconds=60.0, kinds=BOTH, except_hosts=["a.example", "b.example"])
        assert list(free) == [package("x/other")]
        assert len(await self.claim(verifications, limit=1)) == 1

    @awaited
    async def test_processes_share_the_targets(self) -> None:
        every = [remote(f"x/{n}", f"https://{n}.example/mcp") for n in range(20)]
        await self.verifications().put_targets(by_id(*every))
        processes = [self.verifications() for _ in range(4)]
        claimed = await at_once(*(self.claim(each, str(number), limit=5) for number, each in enumerate(processes)))
        shared = [each for found in claimed for each in found]
        assert len({each.id for each in shared}) == len(shared)
        shared += [each for process in processes for each in await self.claim(process, "last", limit=20)]
        assert {each.id for each in shared} == {each.id for each in every}
        assert len(shared) == len(every)

    @awaited
    async def test_a_lease_ends(self) -> None:
        one, other = self.verifications(), self.verifications()
        await one.put_targets(by_id(remote()))
        assert await self.claim(one) == [remote()]
        self.clock.advance(59)
        assert await self.claim(other, "other") == []
        self.clock.advance(1)
        assert await self.claim(other, "other") == [remote()]
        await one.release("one")
        assert await self.claim(one) == []
        await other.release("other")
        assert await self.claim(one) == [remote()]

    @awaited
    async def test_stores_a_check_and_when_the_next_one_is_due(self) -> None:
        verifications = self.verifications()
        await verifications.put_targets(by_id(remote(), package()))
        works = self.checked(
            remote(), protocol_version="2025-11-25", server_name="a", latency=0.5, tools=(TOOL,), detail="é 中"
        )
        exists = self.checked(package(), "exists", latest_version="1.1.0", published_at=5.0, names_server=True)
        await verifications.record(remote(), works, SETTINGS)
        await verifications.record(package(), exists, SETTINGS, spread=2.0)
        states = await self.verifications().states(mcp_id_of("x/a"))
        assert list(states) == [
            TargetState(remote()).after(works, SETTINGS),
            TargetState(package()).after(exists, SETTINGS),
        ]
        assert isinstance(states[0].good, RemoteCheck)
        assert states[0].good.tools == (TOOL,)
        self.clock.advance(SETTINGS.remotes_interval - 1)
        assert await self.claim(verifications) == []
        self.clock.advance(1)
        assert await self.claim(verifications) == [remote()]
        self.clock.advance(2 * SETTINGS.packages_interval - SETTINGS.remotes_interval - 1)
        assert package() not in await self.claim(verifications)
        self.clock.advance(1)
        assert package() in await self.claim(verifications)

    @awaited
    async def test_a_check_of_an_unknown_target_is_ignored(self) -> None:
        verifications = self.verifications()
        assert not await verifications.record(remote(), self.checked(remote()), SETTINGS)
        assert list(await verifications.summaries(0, 9)) == []

    @awaited
    async def test_retries_over_days_before_a_server_is_down(self) -> None:
        verifications = self.verifications()
        await verifications.put_targets(by_id(remote()))
        await verifications.record(remote(), self.checked(remote(), tools=(TOOL,)), SETTINGS)
        statuses = []
        for _ in range(15):
            self.clock.advance(SETTINGS.retry)
            await verifications.record(remote(), self.checked(remote(), "unreachable"), SETTINGS)
            [summary] = await verifications.summaries(0, 9)
            statuses.append((summary.verification.status, summary.verification.tools))
        days = int(SETTINGS.down_after / SETTINGS.retry)
        failing, down = (VerifiedStatus.FAILING, 1), (VerifiedStatus.DOWN, 0)
        assert statuses == [failing] * days + [down] * (15 - days)
        [state] = await verifications.states(mcp_id_of("x/a"))
        assert state.failures == 15
        assert [each.status for each in state.history] == ["unreachable"] * SETTINGS.history
        await verifications.record(remote(), self.checked(remote()), SETTINGS)
        [summary] = await verifications.summaries(0, 9)
        assert summary.verification.status is VerifiedStatus.WORKS

    @awaited
    async def test_logs_changes_of_what_is_indexed(self) -> None:
        verifications, store = self.verifications(), self.store()
        await store.publish("a", [entry("x/a"), entry("x/b")])
        await verifications.put_targets(by_id(remote(), package()))
        assert await verifications.record(remote(), self.checked(remote(), tools=(TOOL,)), SETTINGS)
        [change] = await store.changes(2, 9)
        assert (change.seq, change.kind, change.mcp_id) == (3, "changed", mcp_id_of("x/a"))
        assert await store.head() == 3
        assert await store.count() == 2
        assert change.verified is not None
        tools = (OfferedTool(TOOL.name, TOOL.title, TOOL.description, "city: string", TOOL.hints),)
        assert restore_indexed(change.verified) == IndexedVerification(
            VerifiedStatus.WORKS, "none", "", tools, hinted=hinted_values([TOOL.hints])
        )
        assert {each.mcp_id: each.verified for each in await store.current("", 9)} == {
            mcp_id_of("x/a"): change.verified,
            mcp_id_of("x/b"): None,
        }
        # The same result later is no change.
        self.clock.advance(DAY)
        assert not await verifications.record(remote(), self.checked(remote(), tools=(TOOL,)), SETTINGS)
        assert await store.head() == 3
        # A new version of the entry keeps its verification.
        await store.publish("a", [entry("x/a", "2.0.0", "It snows.")])
        [change] = await store.changes(3, 9)
        assert change.verified is not None
        # A target that is gone takes its results with it.
        await verifications.put_targets({mcp_id_of("x/a"): [package()]})
        [change] = await store.changes(4, 9)
        assert (change.mcp_id, change.verified) == (mcp_id_of("x/a"), None)

    @awaited
    async def test_an_invisible_entry_has_no_change(self) -> None:
        verifications, store = self.verifications(), self.store()
        await verifications.put_targets(by_id(remote("x/none")))
        await verifications.record(remote("x/none"), self.checked(remote("x/none")), SETTINGS)
        assert await store.head() == 0

    @awaited
    async def test_a_target_that_stays_keeps_its_state(self) -> None:
        verifications = self.verifications()
        await verifications.put_targets(by_id(remote(), package()))
        await verifications.record(remote(), self.checked(remote()), SETTINGS)
        other = remote(url="https://b.example/mcp")
        await verifications.put_targets(by_id(remote(), other))
        states = {each.target: each.check is not None for each in await verifications.states(mcp_id_of("x/a"))}
        assert states == {remote(): True, other: False}
        assert await self.claim(verifications) == [other]

    @awaited
    async def test_revisions_grow_with_each_check(self) -> None:
        verifications = self.verifications()
        await verifications.put_targets(by_id(remote(), remote("x/b", "https://b.example/mcp")))
        seen = 0
        for name, url in (("x/a", "https://a.example/mcp"), ("x/b", "https://b.example/mcp")) * 2:
            target = remote(name, url)
            await verifications.record(target, self.checked(target), SETTINGS)
            [summary] = await verifications.summaries(seen, 9)
            assert summary.mcp_id == mcp_id_of(name)
            assert summary.revision > seen
            seen = summary.revision
        assert len(await verifications.summaries(0, 9)) == 2
        assert len(await verifications.summaries(0, 1)) == 1

    @awaited
    async def test_forgets_results(self) -> None:
        verifications, store = self.verifications(), self.store()
        await store.publish("a", [entry("x/a"), entry("x/b")])
        other = remote("x/b", "https://b.example/mcp")
        await verifications.put_targets(by_id(remote(), other))
        for target in (remote(), other):
            await verifications.record(target, self.checked(target), SETTINGS)
        assert await self.claim(verifications) == []
        assert await verifications.forget(["x/a", "x/none"]) == 1
        [state] = await verifications.states(mcp_id_of("x/a"))
        assert state == TargetState(remote())
        assert await self.claim(verifications) == [remote()]
        assert await verifications.forget() == 1
        assert {each.verification.status for each in await verifications.summaries(0, 9)} == {"unverified"}
        assert all(each.verified is None for each in await store.current("", 9))

    @awaited
    async def test_bounds_the_stored_tools(self) -> None:
        verifications = self.verifications()
        await verifications.put_targets(by_id(remote()))
        tools = tuple(FoundTool(f"tool_{n}", "d" * 100, "{" + " " * 8_000 + "}") for n in range(MAX_TOOLS))
        await verifications.record(remote(), self.checked(remote(), tools=tools), SETTINGS)
        [state] = await verifications.states(mcp_id_of("x/a"))
        assert state.good is not None
        assert [each.name for each in state.good.tools] == [each.name for each in tools]
        assert 10 < sum(bool(each.input_schema) for each in state.good.tools) < MAX_TOOLS
        huge = tuple(FoundTool(f"tool_{n}", "d" * 50_000) for n in range(MAX_TOOLS))
        await verifications.record(remote(), self.checked(remote(), tools=huge), SETTINGS)
        [state] = await verifications.states(mcp_id_of("x/a"))
        assert state.good is not None
        assert [each.name for each in state.good.tools] == [each.name for each in huge]
        assert sum(bool(each.description) for each in state.good.tools) == 3

    @awaited
    async def test_counts_all_tools_and_stores_names_up_to_a_limit(self) -> None:
        verifications = self.verifications()
        await verifications.put_targets(by_id(remote()))
        tools = tuple(FoundTool(f"{n:09}") for n in range(2_000))
        check = self.checked(remote(), tools=tools, tool_count=2_000)
        await verifications.record(remote(), check, SETTINGS)
        [state] = await verifications.states(mcp_id_of("x/a"))
        assert state.good is not None
        assert [each.name for each in state.good.tools] == [each.name for each in tools[: MAX_TOOL_NAMES // 10]]
        [summary] = await verifications.summaries(0, 9)
        assert (summary.verification.tools, summary.verification.has_more_tools) == (2_000, False)

    @awaited
    async def test_a_busy_remote_keeps_its_result(self) -> None:
        verifications = self.verifications()
        await verifications.put_targets(by_id(remote()))
        await verifications.record(remote(), self.checked(remote(), tools=(TOOL,)), SETTINGS)
        [before] = await verifications.summaries(0, 9)
        self.clock.advance(DAY)
        assert await self.claim(verifications) == [remote()]
        busy = self.checked(remote(), "busy", retry_after=7_200.0)
        assert not await verifications.record(remote(), busy, SETTINGS)
        [state] = await verifications.states(mcp_id_of("x/a"))
        assert [each.status for each in state.history] == ["busy", "works"]
        assert state.check == state.good
        [summary] = await verifications.summaries(0, 9)
        assert summary.verification == before.verification
        self.clock.advance(7_199)
        assert await self.claim(verifications) == []
        self.clock.advance(1)
        assert await self.claim(verifications) == [remote()]

    @awaited
    async def test_checks_of_one_entry_at_once_are_all_summarized(self) -> None:
        targets = [remote(url=f"https://{n}.example/mcp") for n in range(6)]
        await self.verifications().put_targets(by_id(*targets))
        processes = [self.verifications() for _ in targets]
        await at_once(
            *(
                process.record(target, self.checked(target, tools=(FoundTool(f"tool_{number}"),)), SETTINGS)
                for number, (process, target) in enumerate(zip(processes, targets, strict=True))
            )
        )
        [summary] = await processes[0].summaries(0, 9)
        assert summary.verification.tools == len(targets)

    @awaited
    async def test_the_step_renames_the_status_of_remotes_that_moved(self) -> None:
        verifications = self.verifications()
        await verifications.put_targets(by_id(remote(), remote("x/b")))
        tool = evolve(TOOL, input_schema='{"status":"moved"}')
        await verifications.record(remote(), self.checked(remote(), "works", tools=(tool,)), SETTINGS)
        await verifications.record(remote(), self.checked(remote(), "moved"), SETTINGS)
        await verifications.record(remote("x/b"), self.checked(remote("x/b")), SETTINGS)
        before = [await verifications.states(mcp_id_of(name)) for name in ("x/a", "x/b")]
        tables = self.open_tables()
        is_sqlite = isinstance(tables, SqliteTables)
        renamed = """replace({}, '"status":"moved"', '"status":"redirects"')"""
        if is_sqlite:
            state = f"CAST({renamed.format('CAST(state AS TEXT)')} AS BLOB)"
        else:
            text = "convert_from(state, 'UTF8')"
            state = f"convert_to({renamed.format(text)}, 'UTF8')"
        run_script(tables, f"UPDATE target SET state = {state}")
        with pytest.raises(Exception, match="TargetState"):
            await verifications.states(mcp_id_of("x/a"))
        steps = former_steps(*("sqlite", "directory") if is_sqlite else ("postgres",))
        (script,) = (script for script in steps if "is called `moved`" in script)
        run_script(tables, script)
        assert [await verifications.states(mcp_id_of(name)) for name in ("x/a", "x/b")] == before

    def texts(self) -> int:
        """Return the number of stored texts of packages."""
        return number(self.open_tables(), "SELECT count(*) FROM note_body")

    def read(self, texts: PackageTexts | None) -> PackageCheck:
        """Return a check of the package, which exists and has `texts`."""
        return PackageCheck("npm", "a", "1.0.0", self.clock.seconds(), PackageStatus.EXISTS, texts=texts)

    @awaited
    async def test_entries_with_the_same_package_share_its_texts(self) -> None:
        verifications, store = self.verifications(), self.store()
        await store.publish("x", [entry(name) for name in NAMES])
        await verifications.put_targets(by_id(*map(package, NAMES)))
        for name in NAMES:
            assert await verifications.record(package(name), self.read(TEXTS), SETTINGS)
        for changes in (await store.current("", 9), (await store.changes(0, 9))[-2:]):
            assert [each.texts for each in changes] == [encode_texts(TEXTS)] * 2
        assert self.texts() == 1
        # The state names the texts.
        [state] = await verifications.states(mcp_id_of("x/a"))
        assert (state.texts, state.check) == (TEXTS.id, self.read(None))
        # The same texts, and a check that has read none, are no change.
        for unchanged in (TEXTS, None):
            assert not await verifications.record(package("x/a"), self.read(unchanged), SETTINGS)
        other = evolve(TEXTS, readme="Ask for tides.")
        assert await verifications.record(package("x/a"), self.read(other), SETTINGS)
        assert self.texts() == 2
        found = {each.mcp_id: each.texts for each in await store.current("", 9)}
        assert found == {mcp_id_of("x/a"): encode_texts(other), mcp_id_of("x/b"): encode_texts(TEXTS)}

    @awaited
    async def test_texts_that_no_target_has_are_deleted(self) -> None:
        verifications, store = self.verifications(), self.store()
        await store.publish("x", [entry(name) for name in NAMES])

        async def recorded() -> None:
            await verifications.put_targets(by_id(*map(package, NAMES)))
            for name in NAMES:
                await verifications.record(package(name), self.read(TEXTS), SETTINGS)
            assert self.texts() == 1

        await recorded()
        for name, count in zip(NAMES, (1, 0), strict=True):
            await verifications.put_targets({mcp_id_of(name): []})
            assert self.texts() == count
        await recorded()
        for name, count in zip(NAMES, (1, 0), strict=True):
            assert await verifications.forget([name]) == 1
            assert self.texts() == count
        assert [each.texts for each in await store.current("", 9)] == [None, None]
        await recorded()
        for name, count in zip(NAMES, (1, 0), strict=True):
            await verifications.record(package(name), self.read(PackageTexts()), SETTINGS)
            assert self.texts() == count
