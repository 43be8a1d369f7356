"""Planning of targets, checks within limits, and the service, with a Clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import define
from twisted.internet.task import Clock
from twisted.logger import LogEvent

from directory_server.domain.checks import RemoteStatus, VerifiedStatus
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.domain.errors import Unavailable
from directory_server.domain.patterns import NamePatterns
from directory_server.domain.work import VERIFY
from directory_server.features.verification import checks as checks_module
from directory_server.features.verification import verifier as verifier_module
from directory_server.features.verification.checks import DEADLINE, LEASE, Checked, Checks
from directory_server.features.verification.results import FoundTool, RemoteCheck
from directory_server.features.verification.settings import VerifyConfig
from directory_server.features.verification.summaries import UNVERIFIED
from directory_server.features.verification.tables import Verifications
from directory_server.features.verification.targets import TargetKind
from directory_server.features.verification.verified_entries import VerifiedEntries
from directory_server.features.verification.verifier import IDLE, REPORT_INTERVAL, TICK, Verifier, target_planner
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.services.follower import Follower
from directory_server.sqlite import Database, SqliteTables, sqlite_store
from directory_server.tables import StoredFollowers, StoredWork

from ...contract.store import Briefs
from ...logs import captured_lines
from .fake_checkers import FakeCheckers

KINDS = (TargetKind.REMOTE, TargetKind.PACKAGE)


def remote_entry(name: str, *urls: str, **server: Any) -> Entry:
    remotes = [{"type": "streamable-http", "url": url} for url in urls]
    return Entry({"name": name, "version": "1", "description": "It rains.", "remotes": remotes, **server})


@define
class Process:
    """A process that checks, and what the test sees of it."""

    verifier: Verifier
    fakes: FakeCheckers
    seen: list[Checked]


class World:
    """The storage of all processes, and their clock."""

    def __init__(self, clock: Clock, database: Database) -> None:
        self.clock = clock
        self.store = sqlite_store(database, inline, Briefs())
        self.verifications = Verifications(SqliteTables(database), clock.seconds)
        self.followers = StoredFollowers(SqliteTables(database), clock.seconds)
        self.work = StoredWork(SqliteTables(database), clock.seconds)

    def publish(self, *entries: Entry) -> None:
        run_sync(self.store.publish("a", entries))

    def planner(self, patterns: NamePatterns | None = None) -> Follower:
        storage = SimpleNamespace(store=self.store, followers=self.followers, work=self.work)
        return target_planner(storage, self.verifications, patterns or NamePatterns(), inline, self.clock)

    def plan(self, patterns: NamePatterns) -> None:
        planner = self.planner(patterns)
        run_sync(planner.update())
        run_sync(planner.release())

    def process(
        self, holder: str = "one", *, settings: VerifyConfig | None = None, kinds: Sequence[TargetKind] = KINDS
    ) -> Process:
        fakes, seen = FakeCheckers.of(self.clock.seconds), list[Checked]()
        checks = Checks(
            self.verifications,
            fakes.checkers(),
            self.clock,
            self.clock.seconds,
            settings or VerifyConfig(per_minute=600, concurrency=8, per_host=600),
            seen.append,
            Random(1),
        )
        verifier = Verifier(self.planner(), checks, self.verifications, holder, kinds, self.clock, self.work)
        return Process(verifier, fakes, seen)

    def advance(self, seconds: float, step: float = TICK) -> None:
        self.clock.pump([step] * round(seconds / step))

    def targets(self) -> set[str]:
        mcp_ids = run_sync(self.store.ids("", "~", 99))
        states = [state for mcp_id in mcp_ids for state in run_sync(self.verifications.states(mcp_id))]
        return {state.target.identifier for state in states}

    def summaries(self) -> dict[str, VerifiedStatus]:
        return {each.mcp_id: each.verification.status for each in run_sync(self.verifications.summaries(0, 99))}


@pytest.fixture
def world(directory_database: Database) -> World:
    clock = Clock()
    clock.advance(1_000_000)
    return World(clock, directory_database)


def urls(numbers: Iterable[int]) -> list[str]:
    return [f"https://{number}.example/mcp" for number in numbers]


def test_plans_the_targets_of_changes(world: World) -> None:
    planner = world.planner()
    world.publish(remote_entry("x/a", *urls([1])), remote_entry("x/b", *urls([2])))
    run_sync(planner.update())
    assert world.targets() == set(urls([1, 2]))
    world.publish(remote_entry("x/a", *urls([3]), version="2"))
    run_sync(planner.update())
    assert world.targets() == set(urls([2, 3]))


def test_patterns_select_entries_and_new_patterns_apply_to_all(world: World) -> None:
    world.publish(*(remote_entry(name, *urls([number])) for number, name in enumerate(("x/a", "x/b", "y/c"))))
    world.plan(NamePatterns(("x/*",), ("*/b",)))
    assert world.targets() == set(urls([0]))
    world.plan(NamePatterns(exclude=("x/a",)))
    assert world.targets() == set(urls([1, 2]))


@pytest.mark.slow
def test_checks_all_that_is_due(world: World) -> None:
    package = {"registryType": "npm", "identifier": "a", "version": "1"}
    world.publish(remote_entry("x/a", *urls([1]), packages=[package]), remote_entry("x/b", *urls([2])))
    process = world.process()
    process.verifier.startService()
    world.advance(3)
    assert sorted(process.fakes.remotes.checked) == urls([1, 2])
    assert process.fakes.packages.checked == ["a"]
    assert world.summaries() == {mcp_id_of(name): VerifiedStatus.WORKS for name in ("x/a", "x/b")}
    assert {each.target.name: each.is_change for each in process.seen} == {"x/a": True, "x/b": True}
    # Again after the interval, and not before.
    world.advance(VerifyConfig().remotes_interval - 60, step=IDLE)
    assert len(process.fakes.remotes.checked) == 2
    world.advance(VerifyConfig().remotes_interval * checks_module.SPREAD + 120, step=IDLE)
    assert len(process.fakes.remotes.checked) == 4


def test_a_new_entry_is_checked_soon(world: World) -> None:
    process = world.process()
    process.verifier.startService()
    world.advance(60)
    world.publish(remote_entry("x/new", *urls([1])))
    world.advance(2 * IDLE)
    assert process.fakes.remotes.checked == urls([1])


def test_the_number_of_checks_at_a_time_is_bounded(world: World) -> None:
    world.publish(*(remote_entry(f"x/{n}", *urls([n])) for n in range(10)))
    process = world.process(settings=VerifyConfig(per_minute=6_000, concurrency=3, per_host=600))
    process.fakes.remotes.is_slow = True
    process.verifier.startService()
    world.advance(10)
    assert len(process.fakes.remotes.waiting) == len(process.verifier) == 3
    process.fakes.remotes.finish(next(iter(process.fakes.remotes.waiting)))
    world.advance(1)
    assert len(process.fakes.remotes.waiting) == 3
    assert len(process.fakes.remotes.checked) == 4


def test_the_number_of_checks_per_minute_is_bounded(world: World) -> None:
    world.publish(*(remote_entry(f"x/{n}", *urls([n])) for n in range(100)))
    process = world.process(settings=VerifyConfig(per_minute=30, concurrency=8, per_host=600))
    process.verifier.startService()
    for minute in range(1, 4):
        world.advance(60)
        assert 30 * minute - 1 <= len(process.fakes.remotes.checked) <= 30 * minute + 1


def test_the_number_of_checks_per_minute_and_host_is_bounded(world: World) -> None:
    same = [f"https://busy.example/{n}" for n in range(50)]
    world.publish(*(remote_entry(f"x/{n}", url) for n, url in enumerate(same)), remote_entry("y/a", *urls([1])))
    process = world.process(settings=VerifyConfig(per_minute=600, concurrency=8, per_host=6))
    process.verifier.startService()
    world.advance(5)
    # The busy host does not hold up another one.
    assert sorted(process.fakes.remotes.checked)[0] == "https://1.example/mcp"
    assert len(process.fakes.remotes.checked) == 2
    world.advance(115)
    assert 12 <= len(process.fakes.remotes.checked) - 1 <= 13


def test_a_host_has_one_check_at_a_time(world: World) -> None:
    world.publish(*(remote_entry(f"x/{n}", f"https://busy.example/{n}") for n in range(3)))
    process = world.process()
    process.fakes.remotes.is_slow = True
    process.verifier.startService()
    world.advance(30)
    assert len(process.fakes.remotes.waiting) == 1


def test_a_check_without_an_end_counts_as_unreachable(world: World) -> None:
    world.publish(remote_entry("x/a", *urls([1])))
    process = world.process()
    process.fakes.remotes.is_slow = True
    process.verifier.startService()
    world.advance(DEADLINE + 2)
    [checked] = process.seen
    assert (checked.check.status, checked.check.detail) == ("unreachable", checks_module.TOO_LONG)
    assert process.fakes.remotes.cancelled == urls([1])
    assert len(process.verifier) == 0


def test_an_error_of_ours_is_logged_and_says_nothing_of_the_server(
    world: World, logged_failures: list[LogEvent]
) -> None:
    world.publish(remote_entry("x/a", *urls([1])))
    process = world.process()
    process.fakes.remotes.error = ZeroDivisionError()
    process.verifier.startService()
    world.advance(30)
    assert [event["log_failure"].type for event in logged_failures] == [ZeroDivisionError]
    logged_failures.clear()
    assert world.summaries() == {}
    # The lease ends, and the next attempt succeeds.
    process.fakes.remotes.error = None
    world.advance(LEASE + IDLE)
    assert world.summaries() == {mcp_id_of("x/a"): VerifiedStatus.WORKS}


def test_stopping_cancels_checks_and_releases_leases(world: World) -> None:
    world.publish(*(remote_entry(f"x/{n}", *urls([n])) for n in range(2)))
    process, other = world.process(), world.process("other")
    process.fakes.remotes.is_slow = True
    process.verifier.startService()
    world.advance(3)
    stopped = process.verifier.stopService()
    assert stopped is not None
    assert stopped.called
    assert sorted(process.fakes.remotes.cancelled) == urls([0, 1])
    assert not process.seen
    assert not world.clock.getDelayedCalls()
    other.verifier.startService()
    world.advance(3)
    assert sorted(other.fakes.remotes.checked) == urls([0, 1])


def test_unavailable_storage_is_logged_once_and_retried(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.publish(remote_entry("x/a", *urls([1])))
    process = world.process()

    async def fail(*_: Any, **__: Any) -> Any:
        raise Unavailable("The disk is full.")

    with captured_lines("directory_server") as logs, monkeypatch.context() as patched:
        patched.setattr(Verifications, "claim", fail)
        process.verifier.startService()
        world.advance(4 * IDLE, step=IDLE)
    assert len(logs) == 1
    world.advance(2 * IDLE, step=IDLE)
    assert process.fakes.remotes.checked == urls([1])


def test_the_log_has_a_line_an_hour(world: World) -> None:
    world.publish(*(remote_entry(f"x/{n}", *urls([n])) for n in range(3)))
    process = world.process()
    process.fakes.remotes.results = {
        urls([0])[0]: RemoteCheck(urls([0])[0], "sse", 1_000_000.0, RemoteStatus.UNREACHABLE)
    }
    observed = process.seen
    with captured_lines("directory_server.features") as logs:
        process.verifier.startService()
        world.advance(5)
        for each in observed:
            process.verifier.observe(each)
        world.advance(2 * REPORT_INTERVAL, step=IDLE)
    assert logs == ["Checks in the last hour: 2 remote works, 1 remote unreachable"]


def test_the_summaries_of_entries_are_in_memory(world: World) -> None:
    world.publish(remote_entry("x/a", *urls([1])), remote_entry("x/b"))
    process, verified = world.process(), VerifiedEntries(world.verifications)
    tool = FoundTool("get_forecast")
    process.fakes.remotes.results = {
        urls([1])[0]: RemoteCheck(urls([1])[0], "sse", 1_000_000.0, RemoteStatus.WORKS, tools=(tool,))
    }
    run_sync(verified.refresh())
    assert verified.get(mcp_id_of("x/a")) is UNVERIFIED
    process.verifier.startService()
    world.advance(3)
    run_sync(verified.refresh())
    found = verified.get(mcp_id_of("x/a"))
    assert (found.status, found.tools, found.checked_at) == (VerifiedStatus.WORKS, 1, 1_000_000.0)
    assert verified.get(mcp_id_of("x/b")) is UNVERIFIED
    assert {status: count for status, count in verified.counts.items() if count} == {VerifiedStatus.WORKS: 1}
    run_sync(world.verifications.forget())
    run_sync(verified.refresh())
    assert verified.get(mcp_id_of("x/a")) == UNVERIFIED
    assert sum(verified.counts.values()) == 0


def test_a_long_queue_is_reported_until_it_is_short(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier_module, "LONG_QUEUE", 5)
    world.publish(*(remote_entry(f"x/{number}", *urls([number])) for number in range(9)))
    process = world.process()
    process.verifier.startService()
    report = run_sync(world.work.all())[VERIFY]
    assert (report.done, report.total, report.has_ended) == (0, 9, False)
    world.advance(2 * IDLE)
    report = run_sync(world.work.all())[VERIFY]
    assert (report.done, report.total, report.has_ended) == (9, 9, True)
