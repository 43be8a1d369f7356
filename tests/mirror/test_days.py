"""Days of changes on an upstream with the rules of the official registry, compared with the mirror after each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from attrs import define, field

from directory_server.domain.entries import OFFICIAL
from directory_server.mirror import SyncReport, Upstream, UpstreamFailed
from directory_server.mirror._sync_run import MAX_LOOK_UPS
from directory_server.serialization import restore_entry

from ..contract import awaited
from .conftest import NAME, Harness
from .official import OfficialRegistry, Row, cut, failing, garbled

HOUR = 3600.0
DAYS, RUNS, NAMES = 7, 4, 30
EACH_MODE = pytest.mark.parametrize("versions", ["all", "latest"])


@pytest.fixture
def official(harness: Harness) -> Iterator[OfficialRegistry]:
    from twisted.internet import reactor as global_reactor
    from twisted.web.server import Site

    reactor: Any = global_reactor
    registry = OfficialRegistry(harness.clock)
    port = reactor.listenTCP(0, Site(registry), interface="127.0.0.1")
    harness.port = port.getHost().port
    yield registry
    pytest_twisted.blockon(port.stopListening())


def upstream(harness: Harness, versions: Any) -> Upstream:
    return Upstream(NAME, f"http://127.0.0.1:{harness.port}", versions=versions)


@define
class Comparison:
    """A line for each difference."""

    wrong: list[str] = field(factory=list)

    def check(self, what: str, truth: object, ours: object) -> None:
        if truth != ours:
            self.wrong.append(f"{what}: {truth} upstream, {ours} here")


async def compare(harness: Harness, official: OfficialRegistry, versions: str, gone: Sequence[str] = ()) -> Comparison:
    """Compare each version, status, message and mark with the upstream; the names `gone` may still be there."""
    found = Comparison()
    names = {name for name, _ in harness_records(harness)}
    for name in sorted(names | official.rows.keys()):
        if name in gone:
            continue
        rows = official.rows.get(name, {})
        stored = {each.version: each for each in await harness.store.versions(name)}
        for version, each in stored.items():
            entry = restore_entry(each.body)
            row = rows.get(version)
            if row is None:
                found.check(f"{name} {version}", "deleted", entry.official.get("status"))
                continue
            ours = (entry.official.get("status"), entry.official.get("statusMessage", ""), entry.brief, each.deleted)
            found.check(f"{name} {version}", (row.status, row.message, row.description, row.status == "deleted"), ours)
        for version, row in rows.items():
            # A deleted version that was never seen is not stored.
            if row.status != "deleted" and (versions == "all" or row.latest):
                found.check(f"{name} {version}", True, version in stored)
            if row.latest and version in stored:
                found.check(f"latest of {name}", [version], [each.version for each in stored.values() if each.latest])
    return found


def harness_records(harness: Harness) -> list[tuple[str, str]]:
    return list(harness.bodies())


@define
class Days:
    """Random changes of every kind, with the number of each."""

    official: OfficialRegistry
    random: Random = field(factory=lambda: Random(28))
    counts: Counter[str] = field(factory=Counter)
    renamed: int = 0
    gone: list[str] = field(factory=list)

    def row(self, wanted: Callable[[Row], bool] = lambda row: True) -> Row | None:
        rows = [row for of in self.official.rows.values() for row in of.values() if wanted(row)]
        return self.random.choice(rows) if rows else None

    def change(self) -> None:
        """Make a change of a random kind."""
        kind = self.random.choice(list(CHANGES))
        if CHANGES[kind](self):
            self.counts[kind] += 1

    def publish(self) -> bool:
        row = self.row(lambda row: row.latest)
        if row is not None:
            major, minor, _ = row.key
            self.official.publish(row.name, f"{major}.{minor + 1}.0", f"It rains {minor}.")
        return row is not None

    def publish_two(self) -> bool:
        """Publish two versions and withdraw the later one before any run."""
        row = self.row(lambda row: row.latest)
        if row is not None:
            major, minor, _ = row.key
            self.official.publish(row.name, f"{major}.{minor + 1}.0")
            self.official.publish(row.name, f"{major}.{minor + 2}.0")
            self.official.set_status(row.name, f"{major}.{minor + 2}.0", "deleted", "malware")
        return row is not None

    def new_name(self) -> bool:
        self.renamed += 1
        self.official.publish(f"y/{self.renamed:03}", "1.0.0")
        return True

    def back_port(self) -> bool:
        row = self.row(lambda row: row.latest and row.key[1] > 0)
        if row is not None:
            number = 1 + max(each.key[2] for each in self.official.rows[row.name].values())
            self.official.publish(row.name, f"{row.key[0]}.0.{number}", "It rained.")
        return row is not None

    def set_status(self, status: str, message: str, wanted: Callable[[Row], bool]) -> bool:
        row = self.row(wanted)
        if row is not None:
            self.official.set_status(row.name, row.version, status, message)
        return row is not None

    def set_all(self, status: str) -> bool:
        row = self.row()
        if row is not None:
            self.official.set_all_statuses(row.name, status)
        return row is not None

    def edit(self) -> bool:
        row = self.row()
        if row is not None:
            self.official.edit(row.name, row.version, f"It rains again {self.random.random()}.")
        return row is not None

    def rename(self) -> bool:
        row = self.row()
        if row is not None:
            self.renamed += 1
            self.gone.append(row.name)
            self.official.rename(row.name, f"z/{self.renamed:03}")
        return row is not None


CHANGES: dict[str, Callable[[Days], bool]] = {
    "publish": Days.publish,
    "publish+delete": Days.publish_two,
    "new": Days.new_name,
    "back-port": Days.back_port,
    "deprecate": lambda days: days.set_status("deprecated", "Use another.", lambda row: row.status == "active"),
    "message": lambda days: days.set_status("deprecated", f"{days.random.random()}", lambda row: True),
    "delete latest": lambda days: days.set_status("deleted", "spam", lambda row: row.latest),
    "delete older": lambda days: days.set_status("deleted", "", lambda row: not row.latest),
    "undelete": lambda days: days.set_status("active", "", lambda row: row.status == "deleted"),
    "delete all": lambda days: days.set_all("deleted"),
    "undelete all": lambda days: days.set_all("active"),
    "edit": Days.edit,
    "rename": Days.rename,
}


@EACH_MODE
@awaited
async def test_days_of_every_kind_of_change(harness: Harness, official: OfficialRegistry, versions: str) -> None:
    days = Days(official)
    for number in range(NAMES):
        for version in ("0.9.0", "1.0.0", "1.1.0")[number % 3 :]:
            official.publish(f"x/{number:03}", version)
    harness.clock.advance(HOUR)
    made: Counter[str] = Counter()
    for day in range(DAYS):
        for run in range(RUNS):
            for _ in range(days.random.randrange(8) if (day, run) != (0, 0) else 0):
                days.change()
                harness.clock.advance(days.random.uniform(0, 300))
            is_moving, has_fault = run == 1, run == 2
            official.between_pages = days.change if is_moving else lambda: None
            if has_fault:
                official.faults = [days.random.choice([None, failing, cut, garbled]) for _ in range(3)]
            made += days.counts
            days.counts.clear()
            report = await run_until_success(harness, versions)
            official.between_pages, official.faults = lambda: None, []
            made += days.counts
            days.counts.clear()
            if is_moving or report.rejected:
                # The next run sees what changed during the walk, and the names whose look-up failed.
                harness.clock.advance(HOUR)
                report = await run_until_success(harness, versions)
            if report.full:
                days.gone.clear()
            found = await compare(harness, official, versions, days.gone)
            assert found.wrong == []
            harness.clock.advance(6 * HOUR)
    assert made.keys() == CHANGES.keys()
    report = await harness.mirror.sync(upstream(harness, versions), full=True)
    assert (await compare(harness, official, versions)).wrong == []


async def run_until_success(harness: Harness, versions: str) -> SyncReport:
    for _ in range(9):
        try:
            return await harness.mirror.sync(upstream(harness, versions))
        except UpstreamFailed:
            harness.clock.advance(60)
    raise AssertionError("no sync run has succeeded")


def status_of(harness: Harness, name: str, version: str) -> Any:
    body = harness.bodies().get((name, version))
    return body and restore_entry(body).meta[OFFICIAL]["status"]


@EACH_MODE
@awaited
async def test_a_withdrawn_latest_version_is_replaced_by_the_one_before(
    harness: Harness, official: OfficialRegistry, versions: str
) -> None:
    official.publish("x/a", "1.0.0", "Old.")
    await harness.mirror.sync(upstream(harness, versions))
    harness.clock.advance(HOUR)
    official.publish("x/a", "1.1.0", "New.")
    await harness.mirror.sync(upstream(harness, versions))
    assert harness.brief("x/a") == "New."
    harness.clock.advance(HOUR)
    official.set_status("x/a", "1.1.0", "deleted", "malware")
    report = await harness.mirror.sync(upstream(harness, versions))
    assert (report.full, report.look_ups, report.changed) == (False, 1, 2)
    assert harness.brief("x/a") == "Old."
    assert status_of(harness, "x/a", "1.1.0") == "deleted"
    assert official.paths[-1] == "/v0.1/servers/x%2Fa/versions"
    # The same rows come again; they need no look-up.
    assert (await harness.mirror.sync(upstream(harness, versions))).look_ups == 0


@awaited
async def test_only_versions_that_were_the_latest_are_stored(harness: Harness, official: OfficialRegistry) -> None:
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        official.publish("x/a", version)
    official.set_status("x/a", "1.2.0", "deleted")
    await harness.mirror.sync(upstream(harness, "latest"))
    assert [each.version for each in await harness.store.versions("x/a")] == ["1.1.0"]
    await harness.mirror.sync(upstream(harness, "all"))
    # A changed setting needs a full sync. A version that was deleted before is not stored.
    assert {each.version for each in await harness.store.versions("x/a")} == {"1.0.0", "1.1.0"}


@awaited
async def test_a_full_sync_repairs_the_status_of_stored_versions(harness: Harness, official: OfficialRegistry) -> None:
    official.publish("x/a", "1.0.0")
    await harness.mirror.sync(upstream(harness, "latest"))
    official.publish("x/a", "1.1.0")
    await harness.mirror.sync(upstream(harness, "latest"))
    # A change that no incremental sync sees.
    official.rows["x/a"]["1.0.0"].status = "deleted"
    await harness.mirror.sync(upstream(harness, "latest"), full=True)
    assert status_of(harness, "x/a", "1.0.0") == "deleted"


@awaited
async def test_look_ups_are_limited_and_a_full_sync_does_the_rest(
    harness: Harness, official: OfficialRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("directory_server.mirror._sync_run.MAX_LOOK_UPS", 3)
    assert MAX_LOOK_UPS > 3
    for number in range(9):
        official.publish(f"x/{number}", "1.0.0", "Old.")
        official.publish(f"x/{number}", "1.1.0", "New.")
    harness.clock.advance(HOUR)
    await harness.mirror.sync(upstream(harness, "all"))
    harness.clock.advance(HOUR)
    for number in range(9):
        official.set_status(f"x/{number}", "1.1.0", "deleted", "spam")
    report = await harness.mirror.sync(upstream(harness, "all"))
    assert (report.full, report.look_ups) == (False, 3)
    # No withdrawn version is visible, even where the present one is not known yet.
    assert all(harness.brief(f"x/{number}") != "New." for number in range(9))
    report = await harness.mirror.sync(upstream(harness, "all"))
    assert (report.full, report.look_ups) == (True, 0)
    assert [harness.brief(f"x/{number}") for number in range(9)] == ["Old."] * 9
    assert not (await harness.mirror.sync(upstream(harness, "all"))).full


@pytest.mark.parametrize("fault", [failing, cut, garbled])
@awaited
async def test_a_failed_look_up_is_reported_and_the_next_sync_is_full(
    harness: Harness, official: OfficialRegistry, fault: Any
) -> None:
    official.publish("x/a", "1.0.0", "Old.")
    official.publish("x/a", "1.1.0", "New.")
    harness.clock.advance(HOUR)
    await harness.mirror.sync(upstream(harness, "all"))
    harness.clock.advance(HOUR)
    official.set_status("x/a", "1.1.0", "deleted")
    official.publish("x/b", "1.0.0")
    official.faults = [None, fault]
    report = await harness.mirror.sync(upstream(harness, "all"))
    assert (report.rejected, harness.names()) == (1, ["x/b"])
    assert report.reasons[0].startswith("x/a: its versions cannot be read. It")
    assert (await harness.mirror.sync(upstream(harness, "all"))).full
    assert harness.brief("x/a") == "Old."


@awaited
async def test_marks_of_a_registry_without_them_need_no_look_up(harness: Harness, official: OfficialRegistry) -> None:
    official.publish("x/a", "1.0.0")
    official.publish("x/a", "1.1.0")
    official.has_marks = False
    for _ in range(2):
        report = await harness.mirror.sync(upstream(harness, "all"))
        assert (report.look_ups, harness.names()) == (0, ["x/a"])
    assert {each.version: each.latest for each in await harness.store.versions("x/a")}["1.1.0"]
