"""Commands in the audit log, and `directory-server audit`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from directory_server import sqlite

from ...cli.conftest import CommandLine
from ...tables.conftest import run_script

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
