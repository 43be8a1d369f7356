"""`directory-server after-restore`: outdated keys, sessions and links of a backup end."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from directory_server import sqlite, tables
from directory_server.command_line import main
from directory_server.domain.accounts import Identity
from directory_server.features.publishing.tables import PublisherTokens
from directory_server.runtime.run_sync import run_sync
from directory_server.services.running import RunningServer, ServerRecord
from directory_server.tables import StoredRegistryTokens


def run(folder: Path, *arguments: object) -> str:
    result = CliRunner().invoke(main, ["--data-dir", str(folder), *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


class OpenDirectory:
    """The data directory at `folder`, with its adapters."""

    def __init__(self, folder: Path) -> None:
        self.data = sqlite.DataDirectory(folder)
        self.keys = tables.StoredKeyRing(sqlite.SqliteTables(self.data.directory), time.time)
        self.tokens = StoredRegistryTokens(sqlite.SqliteTables(self.data.directory), time.time)
        self.publishers = PublisherTokens(sqlite.SqliteTables(self.data.directory), time.time)
        self.accounts = tables.StoredAccounts(sqlite.SqliteTables(self.data.directory), time.time)
        self.sessions = tables.StoredSessions(sqlite.SqliteTables(self.data.directory), time.time, 3600, 3600)

    def log_id(self) -> str:
        with self.data.directory.connection() as connection:
            return str(connection.execute("SELECT id FROM log").fetchone()[0])

    def is_valid(self, secret: str) -> bool:
        """Return whether `secret` authenticates as a key."""
        return run_sync(self.keys.find(secret)) is not None


@pytest.fixture
def restored(tmp_path: Path) -> dict[str, str]:
    """Back up a directory, revoke and replace some of its contents, and restore the backup; return ids and secrets."""
    folder = tmp_path / "data"
    opened = OpenDirectory(folder)
    valid, valid_secret = run_sync(opened.keys.create("valid", limit=5, expires_at=None))
    revoked, revoked_secret = run_sync(opened.keys.create("revoked", limit=5, expires_at=None))
    rotated, rotated_secret = run_sync(opened.keys.create("rotated", limit=5, expires_at=None))
    token, token_secret = run_sync(opened.tokens.create("editors"))
    publisher, publisher_secret = run_sync(opened.publishers.create("ci", ["io.acme/*"], expires_at=None))
    account = run_sync(opened.accounts.add("ann@example.org"))
    other = run_sync(opened.accounts.add("bob@example.org"))
    deleted = run_sync(opened.accounts.add("cy@example.org"))
    _, of_deleted = run_sync(opened.keys.create("of cy", limit=5, expires_at=None, owner=deleted.id))
    run_sync(opened.accounts.set_password(other.id, "hash of old"))
    link = run_sync(opened.accounts.link(account.id, lifetime=3600))
    session = run_sync(opened.sessions.open(other.id))
    log = opened.log_id()
    opened.data.close()
    shutil.copytree(folder, tmp_path / "backup")
    opened = OpenDirectory(folder)
    run_sync(opened.keys.revoke(revoked.id))
    _, new_secret = run_sync(opened.keys.rotate(rotated.id, grace=0))
    run_sync(opened.tokens.revoke(token.id))
    run_sync(opened.publishers.revoke(publisher.id))
    run_sync(opened.accounts.disable(account.id))
    run_sync(opened.accounts.delete(deleted.id))
    run_sync(opened.accounts.set_password(other.id, "hash of new"))
    run_sync(opened.sessions.close(session))
    created, _ = run_sync(opened.keys.create("created since", limit=5, expires_at=None))
    opened.data.close()
    folder.rename(tmp_path / "before")
    shutil.copytree(tmp_path / "backup", folder)
    return {
        "valid": valid_secret,
        "revoked": revoked_secret,
        "rotated": rotated_secret,
        "new": new_secret,
        "token": token_secret,
        "publisher": publisher_secret,
        "of_deleted": of_deleted,
        "link": link,
        "session": session,
        "log": log,
        "revoked_id": revoked.id,
        "valid_id": valid.id,
        "created_id": created.id,
        "other_id": other.id,
    }


def test_backup_without_the_command_revives_ended_keys_and_sessions(tmp_path: Path, restored: dict[str, str]) -> None:
    opened = OpenDirectory(tmp_path / "data")
    assert opened.is_valid(restored["revoked"])
    assert run_sync(opened.sessions.find(restored["session"])) is not None
    assert opened.log_id() == restored["log"]
    opened.data.close()


def test_sessions_and_links_end_and_the_log_has_a_new_id(tmp_path: Path, restored: dict[str, str]) -> None:
    output = run(tmp_path / "data", "after-restore")
    opened = OpenDirectory(tmp_path / "data")
    assert opened.log_id() != restored["log"]
    assert run_sync(opened.sessions.find(restored["session"])) is None
    assert run_sync(opened.accounts.linked(restored["link"])) is None
    assert "1 session and 1 link ended." in output
    # Without the newer database, keys that were revoked later stay valid.
    assert f"  {restored['revoked_id']}  revoked, ends in {restored['revoked'][-4:]}" in output
    assert f"  {restored['valid_id']}  valid, ends in {restored['valid'][-4:]}" in output
    assert opened.is_valid(restored["revoked"])
    opened.data.close()


def test_newer_database_ends_keys_and_accounts_again(tmp_path: Path, restored: dict[str, str]) -> None:
    output = run(tmp_path / "data", "after-restore", "--newer", tmp_path / "before" / "directory.db")
    opened = OpenDirectory(tmp_path / "data")
    names = ("valid", "new", "revoked", "rotated", "of_deleted")
    assert [opened.is_valid(restored[name]) for name in names] == [True, True, False, False, False]
    assert run_sync(opened.tokens.find(restored["token"])) is None
    assert run_sync(opened.publishers.find(restored["publisher"])) is None
    ann = run_sync(opened.accounts.find("ann@example.org"))
    assert ann is not None
    assert ann.disabled_at is not None
    # An account that was deleted since is disabled.
    cy = run_sync(opened.accounts.find("cy@example.org"))
    assert cy is not None
    assert cy.disabled_at is not None
    bob = run_sync(opened.accounts.find("bob@example.org"))
    assert bob is not None
    assert bob.disabled_at is None
    assert run_sync(opened.accounts.password(restored["other_id"])) == "hash of new"
    opened.data.close()
    for line in (
        "1 secret and 1 password replaced by newer ones.",
        "Revoked again, keys:\n",
        f"  {restored['revoked_id']}  revoked, ends in ",
        "Revoked again, tokens:\n",
        "  ann@example.org\n",
        f"create them again:\n  {restored['created_id']}  created since\n",
    ):
        assert line in output.replace(f"{ann.id}  ", "")


def test_invalid_newer_database_changes_nothing(tmp_path: Path, restored: dict[str, str]) -> None:
    (tmp_path / "junk").write_bytes(b"junk" * 1_000)
    result = CliRunner().invoke(
        main, ["--data-dir", str(tmp_path / "data"), "after-restore", "--newer", str(tmp_path / "junk")]
    )
    assert result.exit_code == 1
    assert "junk cannot be used now: the file is not an SQLite database" in result.stderr
    opened = OpenDirectory(tmp_path / "data")
    assert opened.log_id() == restored["log"]
    opened.data.close()


def test_running_server_is_left_alone(tmp_path: Path, restored: dict[str, str]) -> None:
    record = ServerRecord(tmp_path / "data", RunningServer(4321, "1.2.3", 1_700_000_000.0, {}))
    result = CliRunner().invoke(main, ["--data-dir", str(tmp_path / "data"), "after-restore"])
    record.close()
    assert result.exit_code == 1
    assert f"Error: A server runs on {tmp_path / 'data'}, with the process id 4321. Stop it" in result.stderr
    opened = OpenDirectory(tmp_path / "data")
    assert opened.log_id() == restored["log"]
    opened.data.close()


def test_roles_of_issuers_wait_for_the_next_sign_in(tmp_path: Path) -> None:
    opened = OpenDirectory(tmp_path)
    identities = tables.StoredIdentities(sqlite.SqliteTables(opened.data.directory), time.time)
    person = Identity("https://issuer.example.org", bytes(32), role="operator")
    account = run_sync(identities.sign_in(person, "ann@example.org", creates=True))
    assert account is not None
    assert account.role == "operator"
    opened.data.close()
    run(tmp_path, "after-restore")
    reopened = run_sync(OpenDirectory(tmp_path).accounts.find("ann@example.org"))
    assert reopened is not None
    assert reopened.role == "member"
