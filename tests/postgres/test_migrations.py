"""Migrations of PostgreSQL: run once, in one process, with statistics for the planner."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Database, check_schema
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import known_steps

from ..engines import Engine
from ..sqlite.conftest import run_concurrently


@pytest.fixture
def empty_engine(migrated_engine: Engine) -> Iterator[Engine]:
    """Return the shared server with an empty schema; the test or this fixture runs the migrations again."""
    with psycopg.connect(migrated_engine.conninfo, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    yield migrated_engine
    with psycopg.connect(migrated_engine.conninfo, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    database = Database(migrated_engine.conninfo)
    run_sync(database.upgrade())
    database.close()


def execute(database: Database, statement: str) -> None:
    run_sync(database.write(lambda cursor: cursor.execute(statement)))


def test_the_planner_has_statistics_after_a_migration(empty_engine: Engine) -> None:
    database = Database(empty_engine.conninfo)
    run_sync(database.upgrade())
    (known,) = run_sync(
        database.read(lambda cursor: cursor.one("SELECT reltuples FROM pg_class WHERE oid = 'spent'::regclass"))
    )
    # It is -1 for a table that was never analyzed.
    assert known == 0
    database.close()


def test_processes_that_start_together_migrate_once(empty_engine: Engine) -> None:
    ran: list[str] = []

    def start(_: int) -> None:
        database = Database(empty_engine.conninfo)
        ran.extend(run_sync(database.upgrade()))
        database.close()

    run_concurrently(start, 4)
    assert ran == [str(step) for step in known_steps("postgres")]


def test_rejects_another_encoding(migrated_engine: Engine) -> None:
    with psycopg.connect(migrated_engine.conninfo, autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    database = Database(f"{migrated_engine.conninfo} dbname=latin")
    try:
        with pytest.raises(Unavailable, match="must have the encoding UTF8, not LATIN1"):
            run_sync(database.upgrade())
    finally:
        database.close()
        with psycopg.connect(migrated_engine.conninfo, autocommit=True) as connection:
            connection.execute("DROP DATABASE latin")


def test_a_process_stops_when_the_schema_needs_newer_software(database: Database) -> None:
    reasons = list[str]()

    def check(sql: str) -> list[str]:
        execute(database, sql)
        run_sync(check_schema(database, reasons.append))
        return reasons

    try:
        assert check("SELECT 1") == []
        assert check("INSERT INTO applied_step VALUES ('tables', 99, 0, 0)") == []
        (reason,) = check("UPDATE applied_step SET needs = 99 WHERE number = 99")
        assert "A newer version of the directory server has upgraded the database" in reason
        # An outage is no reason to stop.
        database.close()
        run_sync(check_schema(database, reasons.append))
        assert reasons == [reason]
    finally:
        with psycopg.connect(**database.parameters) as connection:
            connection.execute("DELETE FROM applied_step WHERE number = 99")
