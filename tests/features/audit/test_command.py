"""Commands in the audit log, and `directory-server audit`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from directory_server import sqlite
from directory_server.features.audit.head_file import HeadKeeper
from directory_server.features.audit.settings import UPKEEP
from directory_server.features.audit.tables import PAGE, AuditLog
from directory_server.runtime.run_sync import inline, run_sync

from ...cli.conftest import CommandLine
from ...tables.conftest import run_script

KEY = b"k" * 32

ON = ("--set", "audit.enabled=true")


def exported(directory: CommandLine, *settings: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in directory.succeed(*settings, "audit", "export").splitlines()]


def test_commands_that_change_something_are_recorded(directory: CommandLine) -> None:
    secret = directory.run(*ON, "key", "create", "--label", "ci").stdout.strip()
    directory.run(*ON, "key", "revoke", "unknown")
    directory.succeed(*ON, "key", "list")
    created, revoked = exported(directory)
    assert (created["action"], created["outcome"]) == ("key create", "done")
    assert created["subject"]["kind"] == "command"
    assert json.loads(created["after"])["label"] == "ci"
    assert (revoked["action"], revoked["outcome"]) == ("key revoke", "not_found")
    assert secret not in json.dumps([created, revoked])


def test_commands_are_not_recorded_without_the_setting(directory: CommandLine) -> None:
    directory.succeed("key", "create", "--label", "ci")
    assert exported(directory) == []
    result = directory.run("audit", "verify")
    assert (result.exit_code, result.stdout.strip()) == (0, f"0:{'0' * 64}")


def test_verify_finds_a_changed_record(directory: CommandLine) -> None:
    for label in ("a", "b", "c"):
        directory.run(*ON, "key", "create", "--label", label)
    head = directory.succeed("audit", "verify").strip()
    assert head == f"3:{exported(directory)[-1]['hash']}"
    directory.run(*ON, "key", "create", "--label", "d")
    directory.succeed("audit", "verify", "--head", head)
    assert directory.run("audit", "verify", "--head", f"3:{'0' * 64}").exit_code == 1
    database = sqlite.Database(directory.data, "directory")
    run_script(sqlite.SqliteTables(database), "UPDATE audit SET after = '' WHERE number = 2")
    database.close()
    result = directory.run("audit", "verify")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0] == "Record 2 was changed, or the one before it."
    assert result.stdout == ""


@pytest.fixture
def signed(directory: CommandLine, tmp_path: Path) -> CommandLine:
    """Return commands with a key, whose log has three records, a checkpoint and the file of the head."""
    key, path = tmp_path / "key", tmp_path / "audit.toml"
    key.write_bytes(KEY)
    path.write_text(f'[audit]\nenabled = true\nkey_file = "{key}"\nhead_file = "{tmp_path}/head"\n')
    for label in ("a", "b", "c"):
        directory.run(*ON, "key", "create", "--label", label)
    log = AuditLog(directory.keyring._tables)
    run_sync(log.check(time.time(), KEY))
    run_sync(HeadKeeper(tmp_path / "head", log, KEY, inline).write(time.time()))
    return directory


def verify(directory: CommandLine, tmp_path: Path, *options: str) -> Any:
    return directory.run("--config", str(tmp_path / "audit.toml"), "audit", "verify", *options)


def test_verify_compares_the_head_outside_of_the_database(signed: CommandLine, tmp_path: Path) -> None:
    tables = signed.keyring._tables
    assert verify(signed, tmp_path).exit_code == 0
    run_sync(tables.run("DELETE FROM audit WHERE number = 3"))
    run_sync(tables.run("DELETE FROM audit_checkpoint"))
    run_sync(AuditLog(tables).check(time.time(), KEY))
    result = verify(signed, tmp_path)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        1,
        "Records after 2 are missing: there was a record 3.",
    )
    (tmp_path / "head").write_text("3 x 4 5")
    assert "is not signed" in verify(signed, tmp_path).stderr
    (tmp_path / "head").unlink()
    assert verify(signed, tmp_path).exit_code == 0
    (tmp_path / "head").mkdir()
    assert "audit.head_file: cannot read" in verify(signed, tmp_path).stderr


def test_verify_needs_a_young_checkpoint(signed: CommandLine, tmp_path: Path) -> None:
    tables = signed.keyring._tables
    run_sync(tables.run("DELETE FROM audit_checkpoint"))
    for age, options, code in [
        (2 * UPKEEP + 9, (), 1),
        (86_400.0, ("--max-age", "2d"), 0),
        (9e5, ("--max-age", "0"), 0),
    ]:
        run_sync(tables.run("DELETE FROM audit_checkpoint"))
        run_sync(AuditLog(tables).check(time.time() - age, KEY))
        result = verify(signed, tmp_path, *options)
        assert result.exit_code == code
        assert ("No checkpoint was signed in the last 20 minutes" in result.stderr) is bool(code)


def test_verify_beside_a_deletion_reads_again_and_shows_it(
    signed: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, read = AuditLog(signed.keyring._tables), AuditLog.read
    deletions = [1, 1]

    async def read_after_deletion(self: AuditLog, after: int, limit: int = PAGE) -> Any:
        if deletions:
            await log.forget(time.time(), 1e9, deletions.pop(), KEY)
        return await read(self, after, limit)

    monkeypatch.setattr(AuditLog, "read", read_after_deletion)
    result = verify(signed, tmp_path)
    assert (result.exit_code, deletions) == (0, [])
    shown = [line.partition(": records ")[2] for line in result.stderr.splitlines() if line.startswith("Deleted")]
    assert shown == ["1 to 2", "3 to 3"]


@pytest.mark.parametrize("head", ["", "1", "x:y", f"-1:{'0' * 64}", f"{'9' * 30}:{'0' * 64}", f"1:{'0' * 63}"])
def test_an_invalid_head_is_rejected(directory: CommandLine, head: str) -> None:
    assert "--head" in directory.fail("audit", "verify", "--head", head)


def test_a_list_has_filters(directory: CommandLine) -> None:
    for label in ("a", "b"):
        directory.run(*ON, "key", "create", "--label", label)
    directory.run(*ON, "key", "revoke", "unknown")
    [failed] = json.loads(directory.succeed("audit", "list", "--outcome", "failed", "--json"))
    assert failed["action"] == "key revoke"
    assert len(json.loads(directory.succeed("audit", "list", "--search", "create", "--since", "1h", "--json"))) == 2
    assert directory.succeed("audit", "list", "--limit", "1").split()[:3] == ["NUMBER", "AT", "SUBJECT"]


def test_the_key_must_be_long_enough(directory: CommandLine, tmp_path: Path) -> None:
    directory.succeed("key", "create", "--label", "a")
    short = tmp_path / "key"
    short.write_bytes(b"short\n")
    message = "audit.key_file: must have a key of at least 32 bytes."
    assert message in directory.fail("--set", f"audit.key_file={short}", "audit", "verify")
    assert "cannot read" in directory.fail("--set", f"audit.key_file={tmp_path}/none", "audit", "verify")
