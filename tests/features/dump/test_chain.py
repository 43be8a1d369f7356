"""A chain of directories that start from dumps, on SQLite and PostgreSQL."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from twisted.internet.task import Clock

from directory_server.domain.entries import OFFICIAL
from directory_server.domain.ports.storage import Store
from directory_server.features.dump.builder import Dumps
from directory_server.features.dump.settings import DumpConfig
from directory_server.mirror import Mirror, Upstream
from directory_server.runtime.run_sync import inline
from directory_server.sqlite import Database, SqliteTables
from directory_server.tables import StoredFollowers, StoredMirrors, StoredWork, Tables

from ...contract import awaited
from ...contract.store import entry
from ...kinds import AGENT, of_kind
from ...tables.conftest import open_store

OWN = "io.github.mcp-directory-server/entry"


class NoAdditions:
    """A directory whose features add nothing."""

    def registry_meta(self, name: str) -> dict[str, object]:
        return {}


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Sequence[Tables]]:
    """Return the tables of two other directories."""
    databases = []
    for name in ("first", "last"):
        (tmp_path / name).mkdir()
        databases.append(Database(tmp_path / name, "directory"))
    yield [SqliteTables(database) for database in databases]
    for database in databases:
        database.close()


async def dump_of(store: Store, folder: Path, clock: Clock, *, every_kind: bool = False) -> Path:
    """Return the path of a new dump, under the name that clients give it."""
    settings = DumpConfig(max_age=0, every_kind=every_kind)
    dumps = Dumps(folder, settings, store, cast(Any, NoAdditions()), inline, clock, clock.seconds, curated=False)
    carried = folder / "dump.jsonl.gz"
    carried.write_bytes((await dumps.current()).path.read_bytes())
    return carried


def versions_in(path: Path) -> list[Any]:
    """Return the versions of a dump without the dates and flags of the directory that made it."""
    found = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    for each in found:
        del each["_meta"][OFFICIAL]["updatedAt"], each["_meta"][OWN]["curated"]
    return found


async def sync(tables: Tables, store: Store, url: Path, clock: Clock, **options: Any) -> Any:
    mirrors = StoredMirrors(tables, StoredFollowers(tables, clock.seconds))
    client = cast(Any, type("Client", (), {"fetch": lambda *_: None})())
    mirror = Mirror(
        client, store.publish, mirrors, StoredWork(tables), inline, clock, clock.seconds, {}, Random(1), "holder"
    )
    return await mirror.sync(Upstream("origin", str(url), **options))


@awaited
async def test_each_directory_of_a_chain_has_every_version(
    tmp_path: Path, tables: Tables, others: Sequence[Tables], clock: Clock
) -> None:
    origin, middle, last = (open_store(each) for each in (others[0], tables, others[1]))
    await origin.publish(
        "a",
        [
            *(entry(f"x/{number:03}", version) for number in range(300) for version in ("1.0.0", "1.1.0-rc.1")),
            entry("x/ü é", "v1 +", brief="\u202e" * 20, publishedAt="2025-01-02T03:04:05Z", isLatest=True),
            entry("x/old", "1.0.0", status="deprecated", statusMessage="Use x/new."),
        ],
    )
    await origin.publish("local", [entry("x/007", "9.0.0", brief="It is ours.")])
    first = await dump_of(origin, tmp_path / "origin", clock)
    assert len(versions_in(first)) == 601, "one source represents a name"
    await sync(tables, middle, first, clock)
    second = await dump_of(middle, tmp_path / "middle", clock)
    await sync(others[1], last, second, clock)
    third = await dump_of(last, tmp_path / "last", clock)
    assert versions_in(second) == versions_in(first)
    assert versions_in(third) == versions_in(first)
    # A version is withdrawn, another one is new, and the dumps are carried again.
    await origin.publish("a", [entry("x/old", "1.0.0", status="deleted"), entry("x/new", "1.0.0")])
    clock.advance(10)
    first = await dump_of(origin, tmp_path / "origin", clock)
    await sync(tables, middle, first, clock)
    second = await dump_of(middle, tmp_path / "middle", clock)
    await sync(others[1], last, second, clock)
    assert versions_in(second) == versions_in(first)
    assert versions_in(await dump_of(last, tmp_path / "last", clock)) == versions_in(first)
    statuses = {each["server"]["name"]: each["_meta"][OFFICIAL]["status"] for each in versions_in(first)}
    assert (statuses["x/old"], statuses["x/new"]) == ("deleted", "active")


@awaited
async def test_a_dump_has_other_kinds_than_servers_only_if_the_operator_says_so(
    tmp_path: Path, tables: Tables, others: Sequence[Tables], clock: Clock
) -> None:
    origin, middle = open_store(others[0]), open_store(tables)
    agent = of_kind(AGENT)
    await origin.publish("a", [entry("x/1", "1.0.0"), agent])
    servers = await dump_of(origin, tmp_path / "servers", clock)
    assert [version["server"]["name"] for version in versions_in(servers)] == ["x/1"]
    clock.advance(10)
    all_kinds = await dump_of(origin, tmp_path / "all", clock, every_kind=True)
    await sync(tables, middle, all_kinds, clock)
    copied = await middle.entry(agent.mcp_id)
    assert copied is not None
    assert (copied.kind, copied.card) == ("agent", agent.card)


@awaited
async def test_a_name_that_is_not_in_the_next_dump_is_removed(
    tmp_path: Path, tables: Tables, others: Sequence[Tables], clock: Clock
) -> None:
    origin, copy = open_store(others[0]), open_store(tables)
    await origin.publish("a", [entry("x/a"), entry("x/b")])
    await sync(tables, copy, await dump_of(origin, tmp_path / "origin", clock), clock, floor=0.1)
    (path := tmp_path / "origin" / "dump.jsonl.gz").write_bytes(
        gzip.compress(b"\n".join(gzip.decompress(path.read_bytes()).splitlines()[:1]))
    )
    report = await sync(tables, copy, path, clock, floor=0.1)
    assert report.removed == 1
