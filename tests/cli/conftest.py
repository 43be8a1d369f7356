"""A data directory, and the command `directory-server` on it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from click.testing import CliRunner, Result
from twisted.internet.defer import Deferred
from twisted.internet.threads import blockingCallFromThread

from directory_server import sqlite, tables
from directory_server.command_line import main
from directory_server.domain.keys import ApiKey
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import TextAnalysis
from directory_server.tables import StoredEntries


def run_in_test_reactor(main: Callable[[Any], Coroutine[Any, Any, None]], what: str = "sync") -> None:
    """Run `main(reactor)` in the reactor of the tests, from a thread. It replaces `run_in_reactor` of commands."""
    from twisted.internet import reactor

    blockingCallFromThread(reactor, lambda: Deferred.fromCoroutine(main(reactor)))  # type: ignore[arg-type]


@frozen
class CommandLine:
    """A data directory, and the command on it."""

    data: Path
    keyring: tables.StoredKeyRing
    accounts: tables.StoredAccounts
    key_uses: tables.StoredKeyUses
    store: StoredEntries
    quota: sqlite.SqliteQuota

    def run(self, *arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(main, ["--data-dir", str(self.data), *arguments], input=stdin)

    def succeed(self, *arguments: str, stdin: str | None = None) -> str:
        """Run a command, which must succeed; return its standard output."""
        result = self.run(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def fail(self, *arguments: str) -> str:
        """Run a command, which must fail; return the last line of its standard error."""
        result = self.run(*arguments)
        assert result.exit_code in (1, 2)
        assert isinstance(result.exception, SystemExit), result.exception
        assert result.stdout == ""
        return result.stderr.splitlines()[-1]

    def all_keys(self) -> list[ApiKey]:
        return list(run_sync(self.keyring.list()))

    def entries(self) -> int:
        return run_sync(self.store.count())


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path / "data"
    opened = sqlite.DataDirectory(folder)
    yield CommandLine(
        folder,
        tables.StoredKeyRing(sqlite.SqliteTables(opened.directory), time.time),
        tables.StoredAccounts(sqlite.SqliteTables(opened.directory), time.time),
        tables.StoredKeyUses(sqlite.SqliteTables(opened.directory)),
        sqlite.sqlite_store(opened.directory, inline, TextAnalysis()),
        sqlite.SqliteQuota(opened.quota, time.time),
    )
    opened.close()


def entry_line(name: str, description: str = "A server.") -> str:
    """Return an entry as a line of JSON Lines."""
    return json.dumps({"name": name, "version": "1.0.0", "description": description}) + "\n"
