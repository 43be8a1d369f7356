"""PostgreSQL adapter of Store listings and Curation."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from directory_server.postgres import Database, PostgresTables, postgres_store
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.tables import StoredCuration

from ..contract.store import ODD_NAMES, ODD_VERSIONS, Briefs, entry
from ..engines import Engine


@pytest.fixture
def english_database(migrated_engine: Engine) -> Iterator[Database]:
    """Return a database that orders text by an English dictionary; skip the test if the server has no ICU."""
    with psycopg.connect(migrated_engine.conninfo, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_collation WHERE collname = 'en-x-icu'").fetchone() is None:
            pytest.skip("this PostgreSQL is built without ICU")
        connection.execute(
            "CREATE DATABASE english TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
        )
    database = Database(f"{migrated_engine.conninfo} dbname=english")
    run_sync(database.upgrade())
    yield database
    database.close()
    with psycopg.connect(migrated_engine.conninfo, autocommit=True) as connection:
        connection.execute("DROP DATABASE english")


def test_the_locale_of_the_database_orders_nothing(english_database: Database) -> None:
    ordered = "SELECT text FROM unnest($1::text[]) AS text ORDER BY text"
    texts = run_sync(english_database.read(lambda cursor: cursor.all(ordered, list(ODD_NAMES))))
    assert [text for (text,) in texts] != list(ODD_NAMES)
    store = postgres_store(english_database, inline, Briefs())
    curation = StoredCuration(PostgresTables(english_database))
    run_sync(store.publish("a", [entry(name, version) for name in reversed(ODD_NAMES) for version in ODD_VERSIONS]))
    everything = run_sync(store.listing(("", ""), 1_000, versions="all"))
    assert [(each.name, each.version) for each in everything] == [
        (name, version) for name in ODD_NAMES for version in ODD_VERSIONS
    ]
    for number, name in enumerate(ODD_NAMES, 1):
        assert [each.name for each in run_sync(store.listing((name, ""), 1_000))] == list(ODD_NAMES[number:])
        after = run_sync(store.listing((name, "1.0.0-B"), 1_000, versions="all"))
        assert after == everything[(number - 1) * len(ODD_VERSIONS) + 2 :]
    for name in ODD_NAMES:
        run_sync(curation.mark(name, "pinned", True))
    assert [each.name for each in run_sync(curation.curated())] == list(ODD_NAMES)
