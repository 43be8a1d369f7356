"""Fixtures of all tests: a test fails if a failure is logged, unless the test expects it."""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped]
from hypothesis import HealthCheck, settings
from twisted.internet.task import deferLater
from twisted.logger import ILogObserver, LogEvent, LogLevel, globalLogPublisher
from zope.interface import provider

from . import server_logs
from .workers import pytest_addoption as pytest_addoption
from .workers import pytest_runtestloop as pytest_runtestloop

if TYPE_CHECKING:
    from directory_server.sqlite import Database
    from directory_server.sqlite._database import Schema

# Without bytecode, each server that a test starts compiles the package.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same examples every time, and no limits of time: machines are noisy, and tests assert behaviour, not time.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


class Open(Protocol):
    """Opens a database; each call acts as another process."""

    def __call__(self, schema: Schema, folder: Path | None = None) -> Database:
        """Return the database `schema` in `folder`, by default the temporary folder of the test."""


MARKS = {
    "browser": ("browser", "process"),
    **dict.fromkeys(("deploy", "hostile", "postgres", "relevance"), ("slow",)),
}
"""Marks of all tests of a folder."""

SHARED = Path(__file__).parent.parent.parent / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Mark the tests of folders, and those of a parameter that stands for PostgreSQL."""
    for item in items:
        if hasattr(item, "callspec") and "postgres" in item.callspec.params.values():
            item.add_marker("slow")
        for mark in MARKS.get(item.path.relative_to(Path(__file__).parent).parts[0], ()):
            item.add_marker(mark)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Add the ends of the logs of servers to the report of a test that fails."""
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if report.failed:
        report.sections += server_logs.ends(getattr(item, "funcargs", {}).get("tmp_path"))
    return report  # type: ignore[return-value]


@contextmanager
def no_failures() -> Iterator[list[LogEvent]]:
    """Collect logged failures, those of discarded Deferreds too, and assert that there are none at the end."""
    failures: list[LogEvent] = []

    @provider(ILogObserver)
    def observe(event: LogEvent) -> None:
        if event.get("log_failure") is not None or event.get("log_level") == LogLevel.critical:
            failures.append(event)

    globalLogPublisher.addObserver(observe)
    yield failures
    gc.collect()
    globalLogPublisher.removeObserver(observe)
    assert not failures, [event.get("log_failure") or event for event in failures]


@pytest.fixture(scope="session", autouse=True)
def _collect_frozen_objects() -> Iterator[None]:
    """At the end, collect what `logged_failures` has excluded from garbage collection."""
    yield
    with no_failures():
        gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _copy_new_databases() -> Iterator[None]:
    """Copy the schema of a new SQLite database: to run its steps takes longer than most tests."""
    from directory_server.sqlite import _database, _migrations

    run_steps, known_steps = _migrations.upgrade, vars(_migrations)["known_steps"]
    templates: dict[Schema, sqlite3.Connection] = {}
    lock = Lock()

    def upgrade(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
        is_used = connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if is_used or version or vars(_migrations)["known_steps"] is not known_steps:
            run_steps(connection, path, schema)
            return
        with lock:
            if schema not in templates:
                templates[schema] = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                run_steps(templates[schema], path, schema)
            templates[schema].backup(connection)
        if schema == "directory":
            # The id of the log differs between databases.
            connection.execute("UPDATE log SET id = lower(hex(randomblob(6)))")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_database, "upgrade", upgrade)
        yield


@pytest.fixture(autouse=True)
def logged_failures() -> Iterator[list[LogEvent]]:
    """Fail a test that logs a failure. A test that expects failures clears the list.

    Older objects are excluded from the garbage collection of a test: to collect all takes longer than most tests.
    """
    from twisted.internet import reactor

    with no_failures() as failures:
        # The last call of the reactor holds the fixtures of the test before; they are collected here.
        pytest_twisted.blockon(deferLater(cast(Any, reactor), 0))
        gc.collect()
        gc.freeze()
        yield failures


@pytest.fixture
def open_database(tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens a database; the databases are closed after the test."""
    from directory_server.sqlite import Database

    opened: list[Database] = []

    def open_database_of(schema: Schema, folder: Path | None = None) -> Database:
        opened.append(Database(folder or tmp_path, schema))
        return opened[-1]

    yield open_database_of
    for database in opened:
        database.close()


@pytest.fixture
def directory_database(open_database: Open) -> Database:
    return open_database("directory")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data; skip the test if it does not exist."""
    if not SHARED.is_dir():
        pytest.skip(f"the real data set is not at {SHARED}")
    return SHARED
