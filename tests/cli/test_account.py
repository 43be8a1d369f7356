"""`directory-server account`: output and effect of each command."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen
from click.testing import CliRunner, Result

from directory_server import sqlite, tables
from directory_server.command_line import main
from directory_server.domain.accounts import Account
from directory_server.runtime.run_sync import run_sync

LINK = re.compile(r"http://127\.0\.0\.1:8080/account/invitation/([\w-]{43})\n")


@frozen
class Directory:
    """A data directory, and the command on it."""

    data: Path
    accounts: tables.StoredAccounts
    keys: tables.StoredKeyRing

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, ["--data-dir", str(self.data), *arguments])

    def succeed(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert result.exit_code == 0, result.output
        return result.stdout

    def fail(self, *arguments: str) -> str:
        result = self.run(*arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        return result.stderr

    def account(self, email: str) -> Account:
        found = run_sync(self.accounts.find(email))
        assert found
        return found

    def linked(self, output: str) -> Account | None:
        """Return the account of the link in the output of a command."""
        link = LINK.fullmatch(output)
        assert link, output
        return run_sync(self.accounts.linked(link[1]))


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    opened = sqlite.DataDirectory(tmp_path / "data")
    yield Directory(
        tmp_path / "data",
        tables.StoredAccounts(sqlite.SqliteTables(opened.directory), time.time),
        tables.StoredKeyRing(sqlite.SqliteTables(opened.directory), time.time),
    )
    opened.close()


def test_add_prints_only_the_link_to_standard_output(directory: Directory) -> None:
    result = directory.run("account", "add", "Ann@example.org")
    assert directory.linked(result.stdout) == directory.account("ann@example.org")
    assert result.stderr == "One-time link for ann@example.org, valid for 3 days:\n"


@pytest.mark.parametrize("url", ["https://directory.example.org", "https://directory.example.org/"])
def test_link_begins_with_the_url_of_the_settings(directory: Directory, url: str) -> None:
    output = directory.succeed("--set", f"web.url={url}", "account", "add", "ann@example.org")
    assert output.startswith("https://directory.example.org/account/invitation/")


def test_reset_replaces_a_lost_link(directory: Directory) -> None:
    first = directory.succeed("account", "add", "ann@example.org")
    second = directory.succeed("account", "reset", "ANN@example.org")
    assert directory.linked(first) is None
    assert directory.linked(second) == directory.account("ann@example.org")


def test_lifetime_of_a_link_is_printed_in_whole_units(directory: Directory) -> None:
    result = directory.run("--set", "accounts.link=60", "account", "add", "ann@example.org")
    assert result.stderr == "One-time link for ann@example.org, valid for 1 minute:\n"


def add_account_with_keys(directory: Directory) -> list[str]:
    """Add an account with a password, two valid keys and a revoked one; return the secrets of the valid keys."""
    directory.succeed("account", "add", "ann@example.org")
    ann = directory.account("ann@example.org")
    run_sync(directory.accounts.set_password(ann.id, "hash"))
    created = [run_sync(directory.keys.create("k", limit=20, expires_at=None, owner=ann.id)) for _ in range(3)]
    run_sync(directory.keys.revoke(created[0][0].id))
    return [secret for _, secret in created[1:]]


def test_reset_reports_the_keys_that_stay_valid(directory: Directory) -> None:
    secrets = add_account_with_keys(directory)
    result = directory.run("account", "reset", "ann@example.org")
    assert result.stderr == (
        "2 keys of ann@example.org can still be used. To revoke them: account reset ann@example.org --revoke-keys\n"
        "One-time link for ann@example.org, valid for 3 days:\n"
    )
    assert directory.linked(result.stdout) == directory.account("ann@example.org")
    assert all(run_sync(directory.keys.find(secret)) for secret in secrets)
    assert run_sync(directory.accounts.password(directory.account("ann@example.org").id)) == "hash"


def test_reset_with_revoke_keys_ends_keys_and_password(directory: Directory) -> None:
    secrets = add_account_with_keys(directory)
    result = directory.run("account", "reset", "ann@example.org", "--revoke-keys")
    assert result.stderr == (
        "2 keys of ann@example.org revoked; password and sessions ended.\n"
        "One-time link for ann@example.org, valid for 3 days:\n"
    )
    ann = directory.account("ann@example.org")
    assert directory.linked(result.stdout) == ann
    assert not any(run_sync(directory.keys.find(secret)) for secret in secrets)
    assert run_sync(directory.accounts.password(ann.id)) is None


def test_reset_of_a_disabled_account_is_rejected(directory: Directory) -> None:
    add_account_with_keys(directory)
    directory.run("account", "disable", "ann@example.org")
    assert "disabled. Enable it first." in directory.fail("account", "reset", "ann@example.org", "--revoke-keys")
    directory.run("account", "enable", "ann@example.org")
    assert "2 keys of ann@example.org" in directory.run("account", "reset", "ann@example.org").stderr


def test_add_rejects_a_known_or_invalid_address(directory: Directory) -> None:
    directory.succeed("account", "add", "ann@example.org")
    assert "'ann@example.org' has an account already" in directory.fail("account", "add", "ann@example.org")
    assert "email: must be an address such as" in directory.fail("account", "add", "ann")


@pytest.mark.parametrize("command", ["approve", "reset", "disable", "enable", "delete"])
def test_unknown_address_is_reported(directory: Directory, command: str) -> None:
    message = directory.fail("account", command, "bob@example.org", *(["--yes"] if command == "delete" else []))
    assert message == "Error: There is no account with the e-mail address 'bob@example.org'.\n"


def test_list_shows_state_and_number_of_keys(directory: Directory) -> None:
    for name in ("ann", "bob", "cy"):
        directory.succeed("account", "add", f"{name}@example.org")
    ann, bob = directory.account("ann@example.org"), directory.account("bob@example.org")
    for account in (ann, bob):
        run_sync(directory.accounts.set_password(account.id, "hash"))
    created = [run_sync(directory.keys.create("k", limit=20, expires_at=None, owner=ann.id))[0] for _ in range(3)]
    run_sync(directory.keys.revoke(created[0].id))
    assert directory.run("account", "disable", "bob@example.org").stderr == "The account bob@example.org is disabled.\n"
    heading, *rows = [re.split(r"  +", row) for row in directory.succeed("account", "list").splitlines()]
    assert heading == ["EMAIL", "STATE", "KEYS", "CREATED", "ROLE"]
    assert [row[:3] for row in rows] == [
        ["ann@example.org", "active", "2"],
        ["bob@example.org", "disabled", "0"],
        ["cy@example.org", "invited", "0"],
    ]
    directory.succeed("account", "enable", "bob@example.org")
    assert directory.account("bob@example.org").disabled_at is None
    assert [key["owner"] for key in json.loads(directory.succeed("key", "list", "--json"))] == ["ann@example.org"] * 3


def test_add_creates_an_operator(directory: Directory) -> None:
    link = directory.succeed("account", "add", "--role", "operator", "ann@example.org")
    assert directory.account("ann@example.org").is_operator
    assert directory.linked(link) == directory.account("ann@example.org")


def test_role_makes_an_operator_and_a_member_again(directory: Directory) -> None:
    directory.succeed("account", "add", "ann@example.org")
    result = directory.run("account", "role", "ann@example.org", "operator")
    assert (result.exit_code, result.stderr) == (0, "The account ann@example.org is an operator.\n")
    assert directory.account("ann@example.org").is_operator
    assert directory.succeed("account", "list").splitlines()[1].endswith("  operator")
    directory.succeed("account", "role", "ann@example.org", "member")
    assert not directory.account("ann@example.org").is_operator
    assert directory.run("account", "role", "ann@example.org", "admin").exit_code == 2


def test_pending_account_cannot_be_an_operator(directory: Directory) -> None:
    run_sync(directory.accounts.register("bob@example.org", "hash", most=5))
    assert "Approve it first" in directory.fail("account", "role", "bob@example.org", "operator")


def test_delete_removes_the_account_and_its_keys(directory: Directory) -> None:
    secrets = add_account_with_keys(directory)
    result = directory.run("account", "delete", "ann@example.org")
    assert result.exit_code == 1
    assert "This cannot be undone. [y/N]" in result.output
    assert all(run_sync(directory.keys.find(secret)) for secret in secrets)
    result = directory.run("account", "delete", "Ann@example.org", "--yes")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "The account ann@example.org is deleted; 2 keys revoked.\n"
    assert not any(run_sync(directory.keys.find(secret)) for secret in secrets)
    assert run_sync(directory.accounts.find("ann@example.org")) is None
    assert len(directory.succeed("key", "list").splitlines()) == 1
    directory.succeed("account", "add", "ann@example.org")


def test_registered_account_is_pending_until_it_is_approved(directory: Directory) -> None:
    run_sync(directory.accounts.register("ann@example.org", "hash", most=1))

    def state() -> str:
        return directory.succeed("account", "list").splitlines()[1].split()[1]

    assert state() == "pending"
    assert directory.run("account", "approve", "ANN@example.org").stderr == "The account ann@example.org is approved.\n"
    assert state() == "active"


def test_registrations_are_decided_by_command(directory: Directory) -> None:
    accounts = directory.accounts
    for name in ("ann", "bob", "cy"):
        run_sync(accounts.register(f"{name}@example.org", "hash", most=9, text=f"I am {name}."))
    listed = {
        row["email"].partition("@")[0]: row for row in json.loads(directory.succeed("registration", "list", "--json"))
    }
    assert {name: row["text"] for name, row in listed.items()} == {
        name: f"I am {name}." for name in ("ann", "bob", "cy")
    }
    assert "is approved" in directory.run("registration", "approve", listed["ann"]["id"]).stderr
    assert "is declined" in directory.run("registration", "decline", listed["bob"]["id"], "--disabled").stderr
    assert "is approved" in directory.run("account", "approve", "cy@example.org").stderr
    states = [account.state for account in run_sync(accounts.list())]
    assert states == ["active", "disabled", "active"]
    assert json.loads(directory.succeed("registration", "list", "--json")) == []
    assert "approved" in directory.succeed("registration", "log", listed["cy"]["id"])


def test_add_creates_the_data_directory(tmp_path: Path) -> None:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["--data-dir", str(tmp_path / "new"), *arguments])

    assert "is not a data directory" in run("account", "list").stderr
    assert run("account", "add", "ann@example.org").exit_code == 0
    assert run("account", "list").exit_code == 0


def test_list_as_json(directory: Directory) -> None:
    directory.succeed("account", "add", "ann@example.org")
    (shown,) = json.loads(directory.succeed("account", "list", "--json"))
    assert shown["email"] == "ann@example.org"
    assert shown["created_at"].endswith("Z")
    assert shown["role"] == "member"


def test_limits_all_keys_of_an_account(directory: Directory) -> None:
    directory.succeed("account", "add", "ann@example.org")
    ann = directory.account("ann@example.org")
    run_sync(directory.keys.create("laptop", limit=20, expires_at=None, owner=ann.id))
    result = directory.run("account", "limit", "ann@example.org", "5000")
    assert result.stderr == "The account ann@example.org is limited to 5,000 requests per key.\n"
    assert directory.account("ann@example.org").limit == 5_000
    assert [key.limit for key in run_sync(directory.keys.list(ann.id))] == [5_000]
    assert directory.run("account", "limit", "ann@example.org", "0").exit_code == 1
