"""Import of a data directory: all content, once, and either everything or nothing."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve, frozen
from twisted.internet.task import Clock

from directory_server.domain.clients import Client
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.errors import BadInput
from directory_server.domain.keys import KeyUse, NewSecret
from directory_server.domain.ports.storage import Mirrors
from directory_server.domain.ports.verification import Plan
from directory_server.domain.reports import Report
from directory_server.domain.statistics import Count, QueryCount
from directory_server.domain.targets import Policy, Target, TargetKind
from directory_server.domain.upstreams import FinishedRun, SyncProgress, UpstreamState
from directory_server.domain.verification import RemoteCheck, RemoteStatus
from directory_server.postgres import (
    Database,
    PostgresAccounts,
    PostgresCuration,
    PostgresKeyRing,
    PostgresKeyUses,
    PostgresMirrors,
    PostgresNewSecrets,
    PostgresPublicationLog,
    PostgresPublisherTokens,
    PostgresQuota,
    PostgresRegistryTokens,
    PostgresReports,
    PostgresSessions,
    PostgresStatistics,
    PostgresStore,
    PostgresVerifications,
    import_data,
    session_secret,
)
from directory_server.postgres import _import as importing
from directory_server.run_sync import inline, run_sync
from directory_server.sqlite import (
    DataDirectory,
    SqliteAccounts,
    SqliteCuration,
    SqliteKeyRing,
    SqliteKeyUses,
    SqliteMirrors,
    SqliteNewSecrets,
    SqlitePublicationLog,
    SqlitePublisherTokens,
    SqliteQuota,
    SqliteRegistryTokens,
    SqliteReports,
    SqliteSessions,
    SqliteStatistics,
    SqliteStore,
    SqliteVerifications,
    export,
)

from ..contract.listing import ODD_NAMES
from ..contract.publishers import RECORD
from ..contract.store import NAME, Briefs, entry
from .test_equal_stores import SOURCES, content

TARGET = Target("x/é", TargetKind.REMOTE, "sse", "https://a.example/sse")

CLIENT = Client("192.0.2.0/24", "Firefox (Linux)")

SESSION_TIMES = (600.0, 6_000.0)
"""Seconds after which a session ends: since its last use, and since its start."""

COUNTS = [Count(day, "requests", name, 5, 1) for day in (2, 1) for name in ("/search", "/")]

NEW_SECRET = NewSecret("mcpd_new", rotated=True)

COUNTED = ("record", "analysed", "entry", "change", "account", "api_key", "secret", "spent", "shared", "stored", "seen")


@frozen
class Filled:
    """A data directory with one of everything; the id of a key, and secrets of what its adapters created.

    The secret `replaced` of the key is in its grace.
    """

    folder: Path
    key_id: str
    key: str
    replaced: str
    revoked: str
    session: str
    link: str
    token: str
    revoked_token: str


NOW = 1_000_020.0
"""Time at which sessions, links and replaced secrets are valid."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """Return a data directory with one of everything."""
    folder = tmp_path_factory.mktemp("data")
    clock = Clock()
    clock.advance(1_000_000)
    now = clock.seconds
    data = DataDirectory(folder)
    data.session_secret()
    store, curation = SqliteStore(data.directory, inline, Briefs(), SOURCES), SqliteCuration(data.directory, SOURCES)
    for number in range(3):
        batch = [entry(name, f"{number}.0.0", isLatest=True) for name in (NAME, *ODD_NAMES)]
        run_sync(store.publish(SOURCES[number % 2], batch))
    run_sync(store.publish("local", [entry("x/own"), entry(NAME, brief="a\0b")]))
    run_sync(store.publish("first", [entry("x/a", "2.0.0", status="deleted"), entry("x/gone", status="deleted")]))
    run_sync(SqliteStore(data.directory, inline, Briefs("2"), SOURCES).changes(0, 3))
    run_sync(curation.mark("x/b", "hidden", True))
    run_sync(curation.mark("x/é", "pinned", True))
    run_sync(curation.mark("x/unpublished", "allowed", True))
    run_sync(curation.disown(NAME))

    mirrors = SqliteMirrors(data.directory, now, inline)
    progress = SyncProgress(True, 11.5, "12")
    state = UpstreamState("first", "q", 1.5, 2.5, 3.5, "No.\0", 4, 5, 6.5, '"7"', "8", 9, 10.5, progress)
    run_sync(mirrors.put(state, seen={"x/a": True, "x/B": False}))
    for started in (5.5, 6.5):
        run = FinishedRun(started, 7.5, True, 1, 2, 3, 4, 5, "No.\0")
        run_sync(mirrors.put(UpstreamState("second"), run=run))
    run_sync(mirrors.hold("first", "process", seconds=60.0))

    verifications = SqliteVerifications(data.directory, now, inline)
    works = RemoteCheck(TARGET.identifier, TARGET.type, 1_000_000.0, RemoteStatus.WORKS)
    run_sync(verifications.put_targets({mcp_id_of(TARGET.name): [TARGET]}, Plan(7, "selection")))
    run_sync(verifications.record(TARGET, works, Policy()))

    accounts = SqliteAccounts(data.directory, now)
    for number in range(12):
        account = run_sync(accounts.add(f"{number}@example.org", "hash" if number else None))
        clock.advance(1)
    run_sync(accounts.register("new@example.org", "hash", most=9))
    link = run_sync(accounts.link(account.id, lifetime=600.0))
    session = run_sync(SqliteSessions(data.directory, now, *SESSION_TIMES).open(account.id, CLIENT))
    keys = SqliteKeyRing(data.directory, now)
    for number in range(12):
        owner = account.id if number % 2 else None
        key, replaced = run_sync(keys.create(f"key {number}", limit=number or None, expires_at=None, owner=owner))
        if number == 0:
            first, revoked = key, replaced
    key, secret = run_sync(keys.rotate(key.id, grace=60.0))
    run_sync(SqliteNewSecrets(data.directory, now).put("session", key.id, NEW_SECRET))
    run_sync(SqliteKeyUses(data.directory).record([KeyUse(key.id, 999_999.5, CLIENT)]))
    run_sync(keys.revoke(first.id))
    run_sync(accounts.disable(run_sync(accounts.list())[3].id))
    tokens = SqliteRegistryTokens(data.directory, now)
    made = [run_sync(tokens.create(f"token {number}")) for number in range(3)]
    run_sync(tokens.revoke(made[2][0].id))
    reports = SqliteReports(data.directory)
    for number in range(3):
        added = run_sync(reports.add(Report("1", "x/a", "1.0.0", "broken", f"text {number}", 999_990.0)))
    run_sync(reports.close(added.id, 999_999.0))
    publishers = SqlitePublisherTokens(data.directory, now)
    run_sync(publishers.create("ci", ["io.acme/*", "io.acme.lab/*"], expires_at=2_000_000.0))
    run_sync(publishers.revoke(run_sync(publishers.create("old", ["io.acme/*"], expires_at=None))[0].id))
    for outcome in ("done", "started"):
        run_sync(SqlitePublicationLog(data.directory).add(evolve(RECORD, outcome=outcome)))
    quota = SqliteQuota(data.quota, now)
    for _ in range(3):
        run_sync(quota.charge(key.id, 20))
        clock.advance(10)
    data.close()
    with closing(SqliteStatistics(folder)) as statistics:
        run_sync(statistics.add(COUNTS, [QueryCount(day, text, 9, 1) for day in (2, 1) for text in "bé"]))
    return Filled(folder, key.id, secret, replaced, revoked, session, link, made[0][1], made[2][1])


@pytest.fixture
def folder(filled: Filled, tmp_path: Path) -> Path:
    """Return a copy of the data directory with one of everything."""
    return Path(shutil.copytree(filled.folder, tmp_path / "data"))


@pytest.fixture
def data(folder: Path) -> Iterator[DataDirectory]:
    data = DataDirectory(folder)
    yield data
    data.close()


def imported(folder: Path, database: Database) -> dict[str, int]:
    """Import `folder`, all texts unchanged; return the number of rows of each table."""
    with export(folder) as source:
        done = run_sync(import_data(source, database))
    assert done.replaced == []
    return dict(done.rows)


def counts(database: Database) -> dict[str, int]:
    query = ", ".join(f"(SELECT count(*) FROM {table})" for table in COUNTED)
    row = run_sync(database.read(lambda cursor: cursor.one(f"SELECT {query}")))
    return dict(zip(COUNTED, row, strict=True))


def mirrored(mirrors: Mirrors) -> object:
    return (
        run_sync(mirrors.all()),
        [list(run_sync(mirrors.runs(name))) for name in SOURCES],
        [run_sync(mirrors.count_seen(name)) for name in SOURCES],
        [run_sync(mirrors.entries(name)) for name in SOURCES],
        sorted(run_sync(mirrors.unseen("first", 100))),
    )


def test_both_stores_return_the_same(data: DataDirectory, folder: Path, database: Database) -> None:
    done = imported(folder, database)
    assert all(done.values()), done
    found = counts(database)
    assert {name: found[name] for name in done if name in found} == {name: done[name] for name in done if name in found}
    store, curation = PostgresStore(database, inline, Briefs(), SOURCES), PostgresCuration(database, SOURCES)
    old_store, old_curation = (
        SqliteStore(data.directory, inline, Briefs(), SOURCES),
        SqliteCuration(data.directory, SOURCES),
    )
    expected = content(old_store, old_curation)
    assert content(store, curation) == expected
    assert len(expected["changes"]) > 30  # type: ignore[arg-type]
    for name in (NAME, *ODD_NAMES):
        assert run_sync(store.versions(name)) == run_sync(old_store.versions(name))
    for versions in ("latest", "all", "1.0.0"):
        assert run_sync(store.listing(("", ""), 999, versions=versions, include_deleted=True)) == run_sync(
            old_store.listing(("", ""), 999, versions=versions, include_deleted=True)
        )
    assert run_sync(store.log_id()) == run_sync(old_store.log_id())
    assert run_sync(store.oldest()) == run_sync(old_store.oldest())
    verifications, old_verifications = (
        PostgresVerifications(database),
        SqliteVerifications(data.directory, lambda: 0.0, inline),
    )
    assert run_sync(verifications.plan()) == run_sync(old_verifications.plan())
    assert list(run_sync(verifications.summaries(0, 9))) == list(run_sync(old_verifications.summaries(0, 9)))
    states = run_sync(verifications.states(mcp_id_of(TARGET.name)))
    assert list(states) == list(run_sync(old_verifications.states(mcp_id_of(TARGET.name))))
    statistics = PostgresStatistics(database)
    assert set(run_sync(statistics.counts(0, 9))) == set(COUNTS)
    assert {each.text: each.total for each in run_sync(statistics.queries(1, limit=9))} == {"b": 18, "é": 18}
    assert mirrored(PostgresMirrors(database)) == mirrored(SqliteMirrors(data.directory, lambda: 0.0, inline))


def test_a_data_directory_may_have_no_statistics(folder: Path, database: Database) -> None:
    (folder / "statistics.db").unlink()
    assert "statistic_count" not in imported(folder, database)
    assert not (folder / "statistics.db").exists()


def test_the_next_writes_continue_the_numbers(folder: Path, database: Database) -> None:
    imported(folder, database)
    store = PostgresStore(database, inline, Briefs(), SOURCES)
    head = run_sync(store.head())
    newest = "SELECT max(id), max(written) FROM record"
    before = run_sync(database.read(lambda cursor: cursor.one(newest)))
    assert run_sync(store.publish("second", [entry(), entry("x/next")])) == ["changed", "added"]
    assert [change.seq for change in run_sync(store.changes(head, 9))] == [head + 1]
    after = run_sync(database.read(lambda cursor: cursor.one(newest)))
    assert all(new > old for old, new in zip(before, after, strict=True))
    create = "INSERT INTO registry_token (id, label, last_four, digest, created_at) VALUES ('z', 'z', 'z', '', 0)"
    run_sync(database.write(lambda cursor: cursor.execute(create)))
    in_order = "SELECT label FROM registry_token ORDER BY ordinal"
    rows = run_sync(database.read(lambda cursor: cursor.all(in_order)))
    assert [label for (label,) in rows] == ["token 0", "token 1", "token 2", "z"]


def test_unchanged_entries_stay_unchanged(folder: Path, database: Database) -> None:
    imported(folder, database)
    store = PostgresStore(database, inline, Briefs(), SOURCES)
    batch = [entry(name, "2.0.0", isLatest=True) for name in ODD_NAMES if name != "x/a"]
    assert run_sync(store.publish("first", batch)) == ["unchanged"] * len(batch)


def test_spent_quota_stays_spent(data: DataDirectory, folder: Path, database: Database) -> None:
    imported(folder, database)
    (key,) = {key for (key,) in run_sync(database.read(lambda cursor: cursor.all("SELECT key FROM spent")))}
    clock = Clock()
    clock.advance(1_000_100)
    quota = PostgresQuota(database, now=clock.seconds)
    assert run_sync(quota.peek(key, 20)) == run_sync(SqliteQuota(data.quota, clock.seconds).peek(key, 20))
    assert run_sync(quota.peek(key, 20)).remaining == 17


def test_keys_stay_valid(filled: Filled, data: DataDirectory, folder: Path, database: Database) -> None:
    imported(folder, database)
    keys, old = PostgresKeyRing(database, lambda: NOW), SqliteKeyRing(data.directory, lambda: NOW)
    assert list(run_sync(keys.list())) == list(run_sync(old.list()))
    for secret in (filled.key, filled.replaced):
        found = run_sync(keys.find(secret))
        assert found is not None
        assert found == run_sync(old.find(secret))
        assert found.id == filled.key_id
    assert run_sync(keys.find(filled.revoked)) is None
    every = [key.id for key in run_sync(old.list())]
    assert run_sync(keys.live(every)) == run_sync(old.live(every)) != set(every)
    new_secrets = PostgresNewSecrets(database, lambda: NOW)
    assert run_sync(new_secrets.take("session", filled.key_id)) == NEW_SECRET


def test_accounts_sessions_and_tokens_stay_valid(
    filled: Filled, data: DataDirectory, folder: Path, database: Database
) -> None:
    imported(folder, database)
    accounts, old = PostgresAccounts(database, lambda: NOW), SqliteAccounts(data.directory, lambda: NOW)
    assert list(run_sync(accounts.list())) == list(run_sync(old.list()))
    for account in run_sync(old.list()):
        assert run_sync(accounts.password(account.id)) == run_sync(old.password(account.id))
    linked = run_sync(accounts.linked(filled.link))
    assert linked is not None
    assert linked == run_sync(old.linked(filled.link))
    assert run_sync(PostgresSessions(database, lambda: NOW, *SESSION_TIMES).find(filled.session)) == linked
    of_linked = run_sync(PostgresSessions(database, lambda: NOW, *SESSION_TIMES).list(linked.id))
    assert of_linked == run_sync(SqliteSessions(data.directory, lambda: NOW, *SESSION_TIMES).list(linked.id))
    assert [each.client for each in of_linked] == [CLIENT]
    uses = run_sync(PostgresKeyUses(database).list(linked.id))
    assert uses == run_sync(SqliteKeyUses(data.directory).list(linked.id))
    tokens, old_tokens = (
        PostgresRegistryTokens(database, lambda: NOW),
        SqliteRegistryTokens(data.directory, lambda: NOW),
    )
    assert list(run_sync(tokens.list())) == list(run_sync(old_tokens.list()))
    assert run_sync(tokens.find(filled.token)) is not None
    reports, old_reports = PostgresReports(database), SqliteReports(data.directory)
    for closed in (False, True):
        found = run_sync(reports.list(closed=closed))
        assert list(found) == list(run_sync(old_reports.list(closed=closed)))
        assert len(found) == 1 + (not closed)
    assert run_sync(tokens.find(filled.revoked_token)) is None
    publishers = run_sync(PostgresPublisherTokens(database, lambda: NOW).list())
    assert list(publishers) == list(run_sync(SqlitePublisherTokens(data.directory, lambda: NOW).list()))
    log = PostgresPublicationLog(database)
    published = list(run_sync(log.newest()))
    assert published == list(run_sync(SqlitePublicationLog(data.directory).newest()))
    assert run_sync(log.add(RECORD)) == published[0][0] + 1


def test_the_session_secret_stays(folder: Path, database: Database) -> None:
    before = run_sync(session_secret(database))
    imported(folder, database)
    assert run_sync(session_secret(database)) == (folder / "session.secret").read_bytes() != before


def test_a_database_that_is_not_empty_is_refused(folder: Path, database: Database) -> None:
    run_sync(PostgresCuration(database).mark("x/y", "hidden", True))
    before = counts(database)
    with pytest.raises(BadInput, match="not empty: its table entry has rows"):
        imported(folder, database)
    assert counts(database) == before


def test_an_import_is_refused_the_second_time(folder: Path, database: Database) -> None:
    imported(folder, database)
    with pytest.raises(BadInput, match="not empty: its table record has rows"):
        imported(folder, database)


def test_a_text_that_the_database_cannot_hold_is_named(folder: Path, database: Database) -> None:
    before = counts(database)
    change(folder, "UPDATE record SET source = 'a' || char(0) WHERE id = 3")
    with pytest.raises(BadInput, match=r"record: the source of \(3,\) has a NUL"):
        imported(folder, database)
    assert counts(database) == before


def change(folder: Path, *statements: str) -> None:
    """Change the directory database as no release does now."""
    with closing(sqlite3.connect(folder / "directory.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_nul_in_a_text_of_an_upstream_is_replaced_and_named(folder: Path, database: Database) -> None:
    change(
        folder,
        "UPDATE record SET version = '1.0' || char(0) || 'x' WHERE id = 3",
        "UPDATE upstream SET walk_cursor = char(0) WHERE name = 'first'",
    )
    with export(folder) as source:
        done = run_sync(import_data(source, database))
    [(name, version, body)] = run_sync(database.run("SELECT name, version, body FROM record WHERE id = 3"))
    assert version == "1.0\ufffdx"
    assert done.replaced == [
        f"record {name!r}: the version '1.0\\x00x' is stored as '1.0\ufffdx'",
        "upstream 'first': the progress_cursor '\\x00' is stored as '\ufffd'",
    ]
    store = PostgresStore(database, inline, Briefs(), SOURCES)
    # The document is as it was published.
    found = run_sync(store.version(name, version))
    assert found is not None
    assert found.body == body
    assert version in [each.version for each in run_sync(store.versions(name))]
    assert run_sync(store.version(name, "1.0\0x")) is None


def test_versions_that_are_the_same_without_nul_are_named(folder: Path, database: Database) -> None:
    before = counts(database)
    of_one_name = f"FROM record WHERE name = '{NAME}' AND source = 'first'"
    change(
        folder,
        f"UPDATE record SET version = '1.0' || char(0) WHERE id = (SELECT min(id) {of_one_name})",
        f"UPDATE record SET version = '1.0' || char(0xfffd) WHERE id = (SELECT max(id) {of_one_name})",
    )
    with pytest.raises(BadInput, match=r"record: two rows are the same after NUL was replaced: Key .* already exists"):
        imported(folder, database)
    assert counts(database) == before


def test_a_difference_after_writing_imports_nothing(
    folder: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counts(database)
    monkeypatch.setattr(importing, "_PULSE", "UPDATE secret SET last_four = 'zzzz'")
    with pytest.raises(BadInput, match="Nothing was imported: row 1 of the table secret is not as it was written"):
        imported(folder, database)
    assert counts(database) == before


def test_every_chunk_is_written(folder: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "ROWS", 3)
    assert imported(folder, database)["record"] == counts(database)["record"] > 30


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a data directory"), export(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()


def test_an_import_reads_one_moment(data: DataDirectory, folder: Path, database: Database) -> None:
    other = SqliteStore(data.directory, inline, Briefs(), SOURCES)
    with export(folder) as source:
        run_sync(other.publish("first", [entry("x/late")]))
        run_sync(import_data(source, database))
    store = PostgresStore(database, inline, Briefs(), SOURCES)
    assert run_sync(store.entry(mcp_id_of("x/late"))) is None
    assert run_sync(store.head()) == run_sync(other.head()) - 1
