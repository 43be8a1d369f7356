"""Migrations: run once, in one process, and refused where the software is too old."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from directory_server.domain.errors import Unavailable
from directory_server.postgres import Database, check_schema
from directory_server.postgres import _migrations as migrations
from directory_server.run_sync import run_sync

from ..engines import Engine
from ..sqlite.conftest import run_concurrently

TABLES = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"


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
    ran: list[int] = []

    def start(_: int) -> None:
        database = Database(empty_engine.conninfo)
        ran.extend(run_sync(database.upgrade()))
        database.close()

    run_concurrently(start, 4)
    assert ran == [step.number for step in migrations.known_steps()]


def test_a_failed_step_leaves_nothing(empty_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [*migrations.known_steps(), migrations.Step(99, 1, "CREATE TABLE half (n int); SELECT 1 / 0")]
    monkeypatch.setattr("directory_server.postgres._database.known_steps", lambda: steps)
    database = Database(empty_engine.conninfo)
    with pytest.raises(psycopg.errors.DivisionByZero):
        run_sync(database.upgrade())
    assert run_sync(database.read(lambda cursor: cursor.one(TABLES))) == (0,)
    database.close()


def test_works_on_a_newer_schema_that_does_not_need_newer_software(database: Database) -> None:
    newer = len(migrations.known_steps()) + 1
    execute(database, f"INSERT INTO schema_step (number, needs) VALUES ({newer}, {newer - 1})")
    try:
        assert run_sync(database.upgrade()) == []
    finally:
        execute(database, f"DELETE FROM schema_step WHERE number = {newer}")


def test_rejects_a_schema_that_needs_newer_software(database: Database) -> None:
    newer = len(migrations.known_steps()) + 1
    execute(database, f"INSERT INTO schema_step (number, needs) VALUES ({newer}, {newer})")
    try:
        with pytest.raises(Unavailable, match=f"schema is number {newer} and needs software that knows number {newer}"):
            run_sync(database.upgrade())
    finally:
        execute(database, f"DELETE FROM schema_step WHERE number = {newer}")


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
    steps, reasons = migrations.known_steps(), list[str]()

    def check(sql: str) -> list[str]:
        execute(database, sql)
        run_sync(check_schema(database, steps, reasons.append))
        return reasons

    newer = len(steps) + 1
    try:
        assert check("SELECT 1") == []
        assert check(f"INSERT INTO schema_step (number, needs) VALUES ({newer}, {newer - 1})") == []
        (reason,) = check(f"UPDATE schema_step SET needs = {newer} WHERE number = {newer}")
        assert "A newer version of the directory server has upgraded the database" in reason
        # An outage is no reason to stop.
        database.close()
        run_sync(check_schema(database, steps, reasons.append))
        assert reasons == [reason]
    finally:
        with psycopg.connect(**database.parameters) as connection:
            connection.execute(f"DELETE FROM schema_step WHERE number = {newer}")
