"""Import of a data directory: all content, once, and either everything or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from twisted.internet.task import Clock

from directory_server.domain.entries import mcp_id_of
from directory_server.features.embeddings.vectors import Embeddings
from directory_server.features.publishing.tables import PublicationLog, PublisherTokens
from directory_server.features.reports.resource import REPORT
from directory_server.features.statistics.tables import Statistics
from directory_server.features.verification.tables import Verifications
from directory_server.postgres import (
    Database,
    PostgresQuota,
    PostgresTables,
    import_data,
    postgres_store,
    session_secret,
)
from directory_server.postgres import _import as importing
from directory_server.postgres._import import _SEQUENCES
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import (
    DataDirectory,
    SqliteQuota,
    SqliteTables,
    export,
    sqlite_store,
)
from directory_server.tables import (
    Position,
    Requests,
    StoredAccounts,
    StoredCuration,
    StoredFollowers,
    StoredKeyRing,
    StoredKeyUses,
    StoredMirrors,
    StoredNewSecrets,
    StoredRegistryTokens,
    StoredSessions,
)

from ...contract.store import NAME, ODD_NAMES, Briefs, entry
from ...features.publishing.test_tables import RECORD
from ..test_equal_stores import SOURCES, content
from .conftest import CLIENT, COUNTS, NEW_SECRET, NOW, SESSION_TIMES, TARGET, Filled, counts, imported


def mirrored(mirrors: StoredMirrors) -> object:
    return (
        run_sync(mirrors.all()),
        [list(run_sync(mirrors.runs(name))) for name in SOURCES],
        [run_sync(mirrors.count_seen(name)) for name in SOURCES],
        [run_sync(mirrors.entries(name)) for name in SOURCES],
        sorted(run_sync(mirrors.unseen("first", 100))),
    )


def test_running_processes_check_their_keys_again(folder: Path, database: Database) -> None:
    (before,) = run_sync(database.read(lambda cursor: cursor.one("SELECT keys FROM pulse")))
    ended = database.ended_keys
    imported(folder, database)
    assert run_sync(database.read(lambda cursor: cursor.one("SELECT keys FROM pulse"))) == (before + 1,)
    assert database.ended_keys == ended + 1


def test_numbers_of_new_rows_follow_those_of_imported_ones(folder: Path, database: Database) -> None:
    imported(folder, database)
    numbered = run_sync(database.read(lambda cursor: cursor.all(_SEQUENCES)))
    assert len(numbered) >= 9
    for table, column, sequence in numbered:
        ((last, following),) = run_sync(database.run(f"SELECT max({column}), nextval('{sequence}') FROM {table}"))
        assert following == last + 1, table


def test_both_stores_return_the_same(data: DataDirectory, folder: Path, database: Database) -> None:
    done = imported(folder, database)
    assert all(done.values()), done
    found = counts(database)
    assert {name: found[name] for name in done if name in found} == {name: done[name] for name in done if name in found}
    store, curation = (
        postgres_store(database, inline, Briefs(), SOURCES),
        StoredCuration(PostgresTables(database), SOURCES),
    )
    old_store, old_curation = (
        sqlite_store(data.directory, inline, Briefs(), SOURCES),
        StoredCuration(SqliteTables(data.directory), SOURCES),
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
        Verifications(PostgresTables(database)),
        Verifications(SqliteTables(data.directory), lambda: 0.0),
    )
    followers = StoredFollowers(PostgresTables(database))
    assert run_sync(followers.find("name", "other", seconds=60.0)) == Position("log", 7, "version")
    assert list(run_sync(verifications.summaries(0, 9))) == list(run_sync(old_verifications.summaries(0, 9)))
    states = run_sync(verifications.states(mcp_id_of(TARGET.name)))
    assert list(states) == list(run_sync(old_verifications.states(mcp_id_of(TARGET.name))))
    embeddings, old_embeddings = Embeddings(PostgresTables(database)), Embeddings(SqliteTables(data.directory))
    assert run_sync(embeddings.progress("model")) == run_sync(old_embeddings.progress("model"))
    assert list(run_sync(embeddings.read("model", 0, 9))) == list(run_sync(old_embeddings.read("model", 0, 9)))
    statistics = Statistics(PostgresTables(database))
    assert set(run_sync(statistics.counts(0, 9))) == set(COUNTS)
    assert {each.name: each.total for each in run_sync(statistics.queries(1, limit=9))} == {"b": 18, "é": 18}
    old_mirrors = StoredMirrors(SqliteTables(data.directory), StoredFollowers(SqliteTables(data.directory)))
    assert mirrored(StoredMirrors(PostgresTables(database), followers)) == mirrored(old_mirrors)


def test_a_data_directory_may_have_no_statistics(folder: Path, database: Database) -> None:
    (folder / "statistics.db").unlink()
    assert "statistic_count" not in imported(folder, database)
    assert not (folder / "statistics.db").exists()


def test_the_next_writes_continue_the_numbers(folder: Path, database: Database) -> None:
    imported(folder, database)
    store = postgres_store(database, inline, Briefs(), SOURCES)
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
    store = postgres_store(database, inline, Briefs(), SOURCES)
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
    keys, old = (
        StoredKeyRing(PostgresTables(database), lambda: NOW),
        StoredKeyRing(SqliteTables(data.directory), lambda: NOW),
    )
    assert list(run_sync(keys.list())) == list(run_sync(old.list()))
    for secret in (filled.key, filled.replaced):
        found = run_sync(keys.find(secret))
        assert found is not None
        assert found == run_sync(old.find(secret))
        assert found.id == filled.key_id
    assert run_sync(keys.find(filled.revoked)) is None
    every = [key.id for key in run_sync(old.list())]
    assert run_sync(keys.live(every)) == run_sync(old.live(every)) != set(every)
    new_secrets = StoredNewSecrets(PostgresTables(database), lambda: NOW)
    assert run_sync(new_secrets.take("session", filled.key_id)) == NEW_SECRET


def test_accounts_sessions_and_tokens_stay_valid(
    filled: Filled, data: DataDirectory, folder: Path, database: Database
) -> None:
    imported(folder, database)
    tables, old_tables = PostgresTables(database), SqliteTables(data.directory)
    accounts, old = StoredAccounts(tables, lambda: NOW), StoredAccounts(old_tables, lambda: NOW)
    assert list(run_sync(accounts.list())) == list(run_sync(old.list()))
    for account in run_sync(old.list()):
        assert run_sync(accounts.password(account.id)) == run_sync(old.password(account.id))
    linked = run_sync(accounts.linked(filled.link))
    assert linked is not None
    assert linked == run_sync(old.linked(filled.link))
    sessions = StoredSessions(tables, lambda: NOW, *SESSION_TIMES)
    assert run_sync(sessions.find(filled.session)) == linked
    of_linked = run_sync(sessions.list(linked.id))
    assert of_linked == run_sync(StoredSessions(old_tables, lambda: NOW, *SESSION_TIMES).list(linked.id))
    assert [each.client for each in of_linked] == [CLIENT]
    uses = run_sync(StoredKeyUses(PostgresTables(database)).list(linked.id))
    assert uses == run_sync(StoredKeyUses(SqliteTables(data.directory)).list(linked.id))
    tokens, old_tokens = (
        StoredRegistryTokens(PostgresTables(database), lambda: NOW),
        StoredRegistryTokens(SqliteTables(data.directory), lambda: NOW),
    )
    assert list(run_sync(tokens.list())) == list(run_sync(old_tokens.list()))
    assert run_sync(tokens.find(filled.token)) is not None
    reports = Requests(PostgresTables(database), (REPORT,))
    old_reports = Requests(SqliteTables(data.directory), (REPORT,))
    for is_open in (False, True):
        found = run_sync(reports.list(is_open=is_open, limit=9))
        assert found == run_sync(old_reports.list(is_open=is_open, limit=9))
        assert len(found) == 1 + is_open
    assert run_sync(tokens.find(filled.revoked_token)) is None
    publishers = run_sync(PublisherTokens(PostgresTables(database), lambda: NOW).list())
    assert list(publishers) == list(run_sync(PublisherTokens(SqliteTables(data.directory), lambda: NOW).list()))
    log = PublicationLog(PostgresTables(database))
    published = list(run_sync(log.newest()))
    assert published == list(run_sync(PublicationLog(SqliteTables(data.directory)).newest()))
    assert run_sync(log.add(RECORD)) == published[0][0] + 1


def test_the_session_secret_stays(folder: Path, database: Database) -> None:
    before = run_sync(session_secret(database))
    imported(folder, database)
    assert run_sync(session_secret(database)) == (folder / "session.secret").read_bytes() != before


def test_every_chunk_is_written(folder: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "ROWS", 3)
    assert imported(folder, database)["record"] == counts(database)["record"] > 30


def test_an_import_reads_one_moment(data: DataDirectory, folder: Path, database: Database) -> None:
    other = sqlite_store(data.directory, inline, Briefs(), SOURCES)
    with export(folder) as source:
        run_sync(other.publish("first", [entry("x/late")]))
        run_sync(import_data(source, database))
    store = postgres_store(database, inline, Briefs(), SOURCES)
    assert run_sync(store.entry(mcp_id_of("x/late"))) is None
    assert run_sync(store.head()) == run_sync(other.head()) - 1
