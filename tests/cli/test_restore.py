"""What a restored backup brings back, and that it ends."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from directory_server import sqlite
from directory_server.cli.main import main
from directory_server.run_sync import run_sync


def run(folder: Path, *arguments: object) -> str:
    done = CliRunner().invoke(main, ["--data-dir", str(folder), *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.stdout


class Parts:
    """The data directory at `folder`, opened as a server does."""

    def __init__(self, folder: Path) -> None:
        self.data = sqlite.DataDirectory(folder)
        self.keys = sqlite.SqliteKeyRing(self.data.directory, time.time)
        self.tokens = sqlite.SqliteRegistryTokens(self.data.directory, time.time)
        self.accounts = sqlite.SqliteAccounts(self.data.directory, time.time)
        self.sessions = sqlite.SqliteSessions(self.data.directory, time.time, 3600, 3600)

    def log_id(self) -> str:
        with self.data.directory.connection() as connection:
            return str(connection.execute("SELECT id FROM log").fetchone()[0])

    def works(self, secret: str) -> bool:
        return run_sync(self.keys.find(secret)) is not None


@pytest.fixture
def story(tmp_path: Path) -> dict[str, str]:
    """Make a backup of a directory, then end some of what is in it, and restore the backup; return what it had."""
    folder = tmp_path / "data"
    parts = Parts(folder)
    kept, kept_secret = run_sync(parts.keys.create("kept", limit=5, expires_at=None))
    revoked, revoked_secret = run_sync(parts.keys.create("revoked", limit=5, expires_at=None))
    rotated, rotated_secret = run_sync(parts.keys.create("rotated", limit=5, expires_at=None))
    token, token_secret = run_sync(parts.tokens.create("editors"))
    account = run_sync(parts.accounts.add("ann@example.org"))
    other = run_sync(parts.accounts.add("bob@example.org"))
    run_sync(parts.accounts.set_password(other.id, "hash of old"))
    link = run_sync(parts.accounts.link(account.id, lifetime=3600))
    session = run_sync(parts.sessions.open(other.id))
    log = parts.log_id()
    parts.data.close()
    shutil.copytree(folder, tmp_path / "backup")
    parts = Parts(folder)
    run_sync(parts.keys.revoke(revoked.id))
    _, new_secret = run_sync(parts.keys.rotate(rotated.id, grace=0))
    run_sync(parts.tokens.revoke(token.id))
    run_sync(parts.accounts.disable(account.id))
    run_sync(parts.accounts.set_password(other.id, "hash of new"))
    run_sync(parts.sessions.close(session))
    made, _ = run_sync(parts.keys.create("made since", limit=5, expires_at=None))
    parts.data.close()
    folder.rename(tmp_path / "before")
    shutil.copytree(tmp_path / "backup", folder)
    return {
        "kept": kept_secret,
        "revoked": revoked_secret,
        "rotated": rotated_secret,
        "new": new_secret,
        "token": token_secret,
        "link": link,
        "session": session,
        "log": log,
        "revoked_id": revoked.id,
        "kept_id": kept.id,
        "made_id": made.id,
        "other_id": other.id,
    }


def test_a_backup_alone_revives_what_has_ended(tmp_path: Path, story: dict[str, str]) -> None:
    parts = Parts(tmp_path / "data")
    assert parts.works(story["revoked"])
    assert run_sync(parts.sessions.find(story["session"])) is not None
    assert parts.log_id() == story["log"]
    parts.data.close()


def test_sessions_and_links_end_and_the_log_is_another(tmp_path: Path, story: dict[str, str]) -> None:
    said = run(tmp_path / "data", "after-restore")
    parts = Parts(tmp_path / "data")
    assert parts.log_id() != story["log"]
    assert run_sync(parts.sessions.find(story["session"])) is None
    assert run_sync(parts.accounts.linked(story["link"])) is None
    assert "1 sessions and 1 links ended." in said
    # Nobody knows here what was revoked since.
    assert f"  {story['revoked_id']}  revoked, ends in {story['revoked'][-4:]}" in said
    assert f"  {story['kept_id']}  kept, ends in {story['kept'][-4:]}" in said
    assert parts.works(story["revoked"])
    parts.data.close()


def test_what_ended_since_the_backup_ends_again(tmp_path: Path, story: dict[str, str]) -> None:
    said = run(tmp_path / "data", "after-restore", "--newer", tmp_path / "before" / "directory.db")
    parts = Parts(tmp_path / "data")
    assert [parts.works(story[name]) for name in ("kept", "new", "revoked", "rotated")] == [True, True, False, False]
    assert run_sync(parts.tokens.find(story["token"])) is None
    ann = run_sync(parts.accounts.find("ann@example.org"))
    assert ann is not None
    assert ann.disabled_at is not None
    assert run_sync(parts.accounts.password(story["other_id"])) == "hash of new"
    parts.data.close()
    for line in (
        "1 secrets and 1 passwords replaced by newer ones.",
        f"Revoked again, keys:\n  {story['revoked_id']}  revoked, ends in ",
        "Revoked again, registry tokens:\n",
        "  ann@example.org\n",
        f"create them again:\n  {story['made_id']}  made since\n",
    ):
        assert line in said.replace(f"{ann.id}  ", "")


def test_a_file_that_is_no_database_changes_nothing(tmp_path: Path, story: dict[str, str]) -> None:
    (tmp_path / "junk").write_bytes(b"junk" * 1_000)
    done = CliRunner().invoke(
        main, ["--data-dir", str(tmp_path / "data"), "after-restore", "--newer", str(tmp_path / "junk")]
    )
    assert done.exit_code == 1
    assert "junk cannot be used now: the file is not an SQLite database" in done.stderr
    parts = Parts(tmp_path / "data")
    assert parts.log_id() == story["log"]
    parts.data.close()
