"""A data directory with one of everything, and its import."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve, frozen
from twisted.internet.task import Clock

from directory_server.domain.accounts import Identity
from directory_server.domain.checks import PackageStatus, PackageTexts, RemoteStatus
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.keys import Client, KeyUse, NewSecret
from directory_server.domain.notes import LOOKALIKE, Note
from directory_server.domain.requests import Request
from directory_server.domain.upstreams import FinishedRun, SyncProgress, UpstreamState
from directory_server.features.embeddings.vectors import Embedding, Embeddings
from directory_server.features.popularity.counter import Sketches
from directory_server.features.publishing.tables import PublicationLog, PublisherTokens
from directory_server.features.quota_requests.resource import QUOTA
from directory_server.features.removals.osv import Advisory
from directory_server.features.removals.tables import Advisories, Reading
from directory_server.features.reports.resource import REPORT, new_report
from directory_server.features.statistics.rules import Count, QueryCount
from directory_server.features.statistics.tables import Statistics
from directory_server.features.verification.results import PackageCheck, RemoteCheck
from directory_server.features.verification.settings import VerifyConfig
from directory_server.features.verification.tables import Verifications
from directory_server.features.verification.targets import Target, TargetKind
from directory_server.postgres import (
    Database,
    import_data,
)
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.sqlite import (
    DataDirectory,
    SeparateTables,
    SqliteQuota,
    SqliteTables,
    export,
    sqlite_store,
)
from directory_server.tables import (
    Requests,
    StoredAccounts,
    StoredCuration,
    StoredFollowers,
    StoredIdentities,
    StoredKeyRing,
    StoredKeyUses,
    StoredMirrors,
    StoredNewSecrets,
    StoredRegistryTokens,
    StoredSessions,
    put_notes,
)

from ...contract.store import NAME, ODD_NAMES, Briefs, entry
from ...features.publishing.test_tables import RECORD
from ..test_equal_stores import SOURCES

TARGET = Target("x/é", TargetKind.REMOTE, "sse", "https://a.example/sse")

CLIENT = Client("192.0.2.0/24", "Firefox (Linux)")

SESSION_TIMES = (600.0, 6_000.0)
"""Seconds after which a session ends: since its last use, and since its start."""

COUNTS = [Count(day, "requests", name, 5, 1) for day in (2, 1) for name in ("/search", "/")]

NEW_SECRET = NewSecret("mcpd_new", rotated=True)

_ROWS = """
    INSERT INTO webhook (id, label, url, kinds, namespaces, keywords, list, created_at, seq, salt, sealed)
        VALUES ('w', 'chat', 'https://chat.example/', 'added', 'io.acme/*', 'rain', 'red', 999990.0, 3, x'01', x'02');
    INSERT INTO webhook_delivery (number, webhook, at, message, seq, changes, status, error, seconds)
        VALUES (1, 'w', 999990.0, 'm', 3, 1, 204, '', 0.5);
    INSERT INTO used_proof (digest, expires_at) VALUES (x'01', 999990.0);
    INSERT INTO namespace_proof VALUES ('com.example', 'dns', 'example.com', 999990.0);
    INSERT INTO note (mcp_id, kind, other, reason, since) VALUES ('id', 'accepted', '', 'a b', 0);
    INSERT INTO entry_list VALUES ('red', 'Red', 0, 1, 'mail', 999990.0, 3, 1);
    INSERT INTO list_approver VALUES ('red', '', 'team');
    INSERT INTO list_approval VALUES ('red', 'x/y', '1', 'aa', x'7b7d', 999990.0, NULL);
    INSERT INTO unresolved VALUES ('x/y');
    INSERT INTO list_pick VALUES ('red', 'x/y');
    INSERT INTO list_entry VALUES ('id', 'red', NULL, 7);
    INSERT INTO reader_group VALUES ('team', 999990.0);
    INSERT INTO group_member VALUES ('reader', 'team');
    INSERT INTO group_claim VALUES ('https://login.example.org', 'cn=team', 'team');
    INSERT INTO list_group VALUES ('red', 'team');
    INSERT INTO follower VALUES ('name', 'log', 7, 'version', 'holder', 999990.0);
    INSERT INTO audit VALUES (1, 'h', 999990000, 'account', 'id', 'ann', '', '', 'key.create', '', '', '', 'r', 'done');
    INSERT INTO list_channel VALUES ('red', 'x/y', 'production', '1');
    INSERT INTO work VALUES ('import', 999990.0, 999999.0, 1, 2, 0);
    INSERT INTO audit_begun VALUES ('r', 999990.0, '{}');
    INSERT INTO audit_checkpoint VALUES (1, 'h', 0, 's', 1);
"""
"""Rows of tables whose features have no simple way to make them."""

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
    store, curation = (
        sqlite_store(data.directory, inline, Briefs(), SOURCES),
        StoredCuration(SqliteTables(data.directory), SOURCES),
    )
    for number in range(3):
        batch = [entry(name, f"{number}.0.0", isLatest=True) for name in (NAME, *ODD_NAMES)]
        run_sync(store.publish(SOURCES[number % 2], batch))
    run_sync(store.publish("local", [entry("x/own"), entry(NAME, brief="a\0b")]))
    run_sync(store.publish("first", [entry("x/a", "2.0.0", status="deleted"), entry("x/gone", status="deleted")]))
    run_sync(sqlite_store(data.directory, inline, Briefs("2"), SOURCES).changes(0, 3))
    run_sync(curation.mark("x/b", "hidden", True))
    run_sync(curation.mark("x/é", "pinned", True))
    run_sync(curation.mark("x/unpublished", "allowed", True))
    run_sync(curation.disown(NAME))

    mirrors = StoredMirrors(SqliteTables(data.directory), StoredFollowers(SqliteTables(data.directory), now))
    progress = SyncProgress(True, 11.5, "12")
    state = UpstreamState("first", "q", 1.5, 2.5, 3.5, "No.\0", 4, 5, 6.5, '"7"', "8", 9, 10.5, progress)
    run_sync(mirrors.put(state, seen={"x/a": True, "x/B": False}))
    for started in (5.5, 6.5):
        run = FinishedRun(started, 7.5, True, 1, 2, 3, 4, 5, "No.\0")
        run_sync(mirrors.put(UpstreamState("second"), run=run))
    run_sync(mirrors.hold("first", "process", seconds=60.0))

    verifications = Verifications(SqliteTables(data.directory), now)
    works = RemoteCheck(TARGET.identifier, TARGET.type, 1_000_000.0, RemoteStatus.WORKS)
    package = Target(TARGET.name, TargetKind.PACKAGE, "npm", "a", "1.0.0")
    texts = PackageTexts("Forecasts.", ("weather",), "Ask for storms.")
    exists = PackageCheck("npm", "a", "1.0.0", works.checked_at, PackageStatus.EXISTS, texts=texts)
    run_sync(verifications.put_targets({mcp_id_of(TARGET.name): [TARGET, package]}))
    run_sync(verifications.record(TARGET, works, VerifyConfig()))
    run_sync(verifications.record(package, exists, VerifyConfig()))

    embeddings = Embeddings(SqliteTables(data.directory))
    vectors = [Embedding(mcp_id, b"digest", bytes(range(256))) for mcp_id in ("a", "b", "c")]
    run_sync(embeddings.put("model", vectors, []))
    run_sync(embeddings.put("model", [], ["a"]))
    run_sync(embeddings.complete("model"))

    accounts = StoredAccounts(SqliteTables(data.directory), now)
    for number in range(12):
        account = run_sync(accounts.add(f"{number}@example.org", "hash" if number else None))
        clock.advance(1)
    run_sync(accounts.register("new@example.org", "hash", most=9))
    link = run_sync(accounts.link(account.id, lifetime=600.0))
    session = run_sync(StoredSessions(SqliteTables(data.directory), now, *SESSION_TIMES).open(account.id, CLIENT))
    keys = StoredKeyRing(SqliteTables(data.directory), now)
    for number in range(12):
        owner = account.id if number % 2 else None
        key, replaced = run_sync(keys.create(f"key {number}", limit=number or None, expires_at=None, owner=owner))
        if number == 0:
            first, revoked = key, replaced
    key, secret = run_sync(keys.rotate(key.id, grace=60.0))
    run_sync(StoredNewSecrets(SqliteTables(data.directory), now).put("session", key.id, NEW_SECRET))
    run_sync(StoredKeyUses(SqliteTables(data.directory)).record([KeyUse(key.id, 999_999.5, CLIENT)]))
    run_sync(keys.revoke(first.id))
    person = Identity("https://issuer.example.org", bytes(32), ("staff",))
    run_sync(StoredIdentities(SqliteTables(data.directory), now).sign_in(person, "0@example.org", creates=False))
    run_sync(accounts.disable(run_sync(accounts.list())[3].id))
    run_sync(accounts.set_limit(run_sync(accounts.list())[4].id, 500))
    quota_requests = Requests(SqliteTables(data.directory), (QUOTA,))
    for asking in (run_sync(accounts.list())[4].id, account.id):
        request = Request(QUOTA.name, asking, account=asking, details={"wanted": 1_000})
        asked = run_sync(quota_requests.add(request, "Agents.", 999_990.0))
    run_sync(quota_requests.record(asked, "approved", None, "", 999_999.0, {"granted": 500}))
    flags = {mcp_id_of("x/b"): [Note(LOOKALIKE, "same_name", 999_990.0, other) for other in ("x/c", "x/a")]}
    run_sync(SqliteTables(data.directory).write(lambda rows: put_notes(rows, [LOOKALIKE], flags)))
    advisories = Advisories(SqliteTables(data.directory))
    run_sync(advisories.put([Advisory("npm bad", number, ("1.0.0",)) for number in ("MAL-2", "MAL-1")]))
    run_sync(advisories.put_reading(Reading(999_990.0, "sources")))
    tokens = StoredRegistryTokens(SqliteTables(data.directory), now)
    made = [run_sync(tokens.create(f"token {number}")) for number in range(3)]
    run_sync(tokens.revoke(made[2][0].id))
    reports = Requests(SqliteTables(data.directory), (REPORT,))
    for number in range(3):
        report = new_report("1", "x/a", "1.0.0", "broken", text := f"text {number}")
        added = run_sync(reports.add(report, text, 999_990.0))
    run_sync(reports.record(added, "closed", None, "", 999_999.0))
    publishers = PublisherTokens(SqliteTables(data.directory), now)
    embeddings = Embeddings(SqliteTables(data.directory))
    run_sync(embeddings.put("model", [Embedding(mcp_id_of(NAME), b"digest", b"vector")], []))
    run_sync(publishers.create("ci", ["io.acme/*", "io.acme.lab/*"], expires_at=2_000_000.0))
    run_sync(publishers.revoke(run_sync(publishers.create("old", ["io.acme/*"], expires_at=None))[0].id))
    for outcome in ("done", "started"):
        run_sync(PublicationLog(SqliteTables(data.directory)).add(evolve(RECORD, outcome=outcome)))
    quota = SqliteQuota(data.quota, now)
    for _ in range(3):
        run_sync(quota.charge(key.id, 20))
        clock.advance(10)
    data.close()
    with closing(sqlite3.connect(folder / "directory.db")) as connection, connection:
        connection.executescript(_ROWS)
    with closing(SeparateTables(folder, "statistics")) as separate:
        run_sync(Statistics(separate).add(COUNTS, [QueryCount(day, text, 9, 1) for day in (2, 1) for text in "bé"]))
        run_sync(Sketches(separate).add(2, [("id", "ann")]))
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
