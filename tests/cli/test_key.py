"""`directory-server key`: output and effect of each command."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime

import pytest

from directory_server.domain.keys import Client, KeyUse
from directory_server.runtime.run_sync import run_sync
from directory_server.serialization import rfc3339

from .conftest import CommandLine

SECRET = re.compile(r"mcpd_[0-9A-Za-z]{38}\n")


def test_create_prints_only_the_secret_to_standard_output(directory: CommandLine) -> None:
    result = directory.run("key", "create", "--label", "an editor")
    (key,) = directory.all_keys()
    assert SECRET.fullmatch(result.stdout)
    assert result.stderr == f"Created key {key.id} for 'an editor'. Its secret is shown only once:\n"
    assert run_sync(directory.keyring.find(result.stdout.strip())) == key
    assert (key.label, key.limit, key.expires_at) == ("an editor", 20, None)


@pytest.mark.parametrize(("text", "limit"), [("5", 5), ("unlimited", None), ("1000000", 1_000_000)])
def test_create_with_a_limit(directory: CommandLine, text: str, limit: int | None) -> None:
    directory.succeed("key", "create", "--label", "a", "--limit", text)
    assert directory.all_keys()[0].limit == limit


def test_create_uses_the_limit_of_the_settings(directory: CommandLine) -> None:
    directory.succeed("--set", "quota.limit=unlimited", "key", "create", "--label", "a")
    assert directory.all_keys()[0].limit is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2999-01-31", datetime(2999, 1, 31, tzinfo=UTC)),
        ("2999-01-31T12:00:00+02:00", datetime(2999, 1, 31, 10, tzinfo=UTC)),
    ],
)
def test_create_with_an_expiry_date(directory: CommandLine, text: str, moment: datetime) -> None:
    directory.succeed("key", "create", "--label", "a", "--expires", text)
    assert directory.all_keys()[0].expires_at == moment.timestamp()


@pytest.mark.parametrize(("text", "seconds"), [("15m", 900), ("12h", 43_200), ("30d", 2_592_000)])
def test_create_with_a_lifetime(directory: CommandLine, text: str, seconds: int) -> None:
    before = time.time()
    directory.succeed("key", "create", "--label", "a", "--expires", text)
    after = time.time()
    (key,) = directory.all_keys()
    assert key.expires_at is not None
    assert before + seconds <= key.expires_at <= after + seconds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Missing option '--label'"),
        (["--label", ""], "label: must be 1 to 100 printable characters"),
        (["--label", "a\nb"], "label: must be 1 to 100 printable characters"),
        (["--label", "a", "--limit", "0"], "limit: must be a whole number from 1 to 1,000,000,000"),
        (["--label", "a", "--limit", "1000000001"], "limit: must be a whole number from 1 to 1,000,000,000"),
        (["--label", "a", "--limit", "-1"], "limit: must be a whole number from 1 to 1,000,000,000, or 'unlimited'"),
        (
            ["--label", "a", "--limit", "many"],
            "limit: must be a whole number from 1 to 1,000,000,000, or 'unlimited'",
        ),
        (
            ["--label", "a", "--limit", "9" * 5000],
            "limit: must be a whole number from 1 to 1,000,000,000, or 'unlimited'",
        ),
        (["--label", "a", "--expires", "soon"], "expires: must be a duration such as 30d, a date"),
        (["--label", "a", "--expires", "2999-13-01"], "expires: must be a duration such as 30d, a date"),
        # In UTC this is in the year 10000, which datetime cannot represent.
        (
            ["--label", "a", "--expires", "9999-12-31T23:59:59-01:00"],
            "expires: must be a duration such as 30d, a date",
        ),
        (["--label", "a", "--expires", "2020-01-31"], "must be in the future"),
        (["--label", "a", "--expires", "0m"], "must be in the future"),
    ],
)
def test_create_rejects_invalid_options(directory: CommandLine, options: list[str], message: str) -> None:
    assert message in directory.fail("key", "create", *options)
    assert directory.all_keys() == []


def test_list_shows_used_requests_and_no_secret(directory: CommandLine) -> None:
    secrets = [
        directory.succeed("key", "create", "--label", "used", "--limit", "5").strip(),
        directory.succeed("key", "create", "--label", "no limit", "--limit", "unlimited").strip(),
        directory.succeed("key", "create", "--label", "ended", "--expires", "2999-01-31").strip(),
    ]
    used, unlimited, ended = directory.all_keys()
    clients = {used.id: Client("192.0.2.0/24", "curl"), unlimited.id: Client()}
    run_sync(directory.key_uses.record([KeyUse(key_id, 1_800_000_000.0, each) for key_id, each in clients.items()]))
    for _ in range(2):
        run_sync(directory.quota.charge(used.id, used.limit))
    directory.succeed("key", "revoke", ended.id)
    shown = directory.succeed("key", "list")
    assert not any(secret in shown for secret in secrets)
    heading, *rows = [re.split(r"  +", row) for row in shown.splitlines()]
    names = ["ID", "LABEL", "ENDS IN", "USED", "LIMIT", "CREATED", "EXPIRES", "STATE", "OWNER", "LAST USED", "CLIENT"]
    assert heading == [*names, "NETWORK"]
    assert [row[0] for row in rows] == [key.id for key in directory.all_keys()]
    assert [row[1:5] for row in rows] == [
        ["used", secrets[0][-4:], "2", "5"],
        ["no limit", secrets[1][-4:], "-", "unlimited"],
        ["ended", secrets[2][-4:], "0", "20"],
    ]
    assert [row[6:] for row in rows] == [
        ["never", "valid", "-", "2027-01-15 08:00", "curl", "192.0.2.0/24"],
        ["never", "valid", "-", "2027-01-15 08:00", "-", "-"],
        ["2999-01-31 00:00", "revoked", "-", "never", "-", "-"],
    ]


def test_the_last_use_is_the_last_charge_before_the_use_is_written(directory: CommandLine) -> None:
    directory.succeed("key", "create", "--label", "laptop")
    (key,) = directory.all_keys()
    run_sync(directory.key_uses.record([KeyUse(key.id, 1_000_000_000.0, Client())]))
    run_sync(directory.quota.charge(key.id, key.limit))
    charged = run_sync(directory.quota.last(key.id))
    (listed,) = json.loads(directory.succeed("key", "list", "--json"))
    assert charged
    assert listed["last_used_at"] == rfc3339(charged)


def test_limit_changes_the_limit_of_a_key(directory: CommandLine) -> None:
    directory.succeed("key", "create", "--label", "laptop")
    (key,) = directory.all_keys()
    for text, limit in (("500", 500), ("unlimited", None)):
        directory.succeed("key", "limit", key.id, text)
        assert directory.all_keys()[0].limit == limit
    for wrong in ("0", "many", "-1"):
        assert "must be" in directory.fail("key", "limit", "--", key.id, wrong)
    assert "No key has the id" in directory.fail("key", "limit", "nosuchid", "5")


def test_revoked_key_is_invalid(directory: CommandLine) -> None:
    secret = directory.succeed("key", "create", "--label", "a").strip()
    (key,) = directory.all_keys()
    result = directory.run("key", "revoke", key.id)
    assert (result.stdout, result.stderr) == ("", f"Key {key.id} is revoked.\n")
    assert run_sync(directory.keyring.find(secret)) is None


def test_both_secrets_of_a_rotated_key_are_valid(directory: CommandLine) -> None:
    old = directory.succeed("key", "create", "--label", "a").strip()
    (key,) = directory.all_keys()
    new = directory.succeed("key", "rotate", key.id)
    assert SECRET.fullmatch(new)
    for secret in (old, new.strip()):
        found = run_sync(directory.keyring.find(secret))
        assert found
        assert found.id == key.id


@pytest.mark.parametrize(
    "options",
    [
        ["key", "rotate", "ID", "--grace", "0m"],
        ["key", "rotate", "ID", "--grace", "0"],
        ["--set", "keys.grace=0", "key", "rotate", "ID"],
    ],
)
def test_rotate_without_grace_invalidates_the_old_secret(directory: CommandLine, options: list[str]) -> None:
    old = directory.succeed("key", "create", "--label", "a").strip()
    (key,) = directory.all_keys()
    directory.succeed(*(key.id if option == "ID" else option for option in options))
    assert run_sync(directory.keyring.find(old)) is None


def test_unknown_key_and_invalid_grace_are_reported(directory: CommandLine) -> None:
    assert directory.fail("key", "revoke", "unknown") == "Error: No key has the id 'unknown'."
    assert directory.fail("key", "rotate", "unknown") == "Error: No key has the id 'unknown'."
    directory.succeed("key", "create", "--label", "laptop")
    (key,) = directory.all_keys()
    assert "grace: must be a duration such as 30d" in directory.fail("key", "rotate", key.id, "--grace", "1")


def test_list_as_json_has_machine_readable_values(directory: CommandLine) -> None:
    directory.succeed("key", "create", "--label", "robot", "--limit", "unlimited", "--expires", "2099-01-31")
    (shown,) = json.loads(directory.succeed("key", "list", "--json"))
    assert shown["label"] == "robot"
    assert (shown["limit"], shown["used"], shown["owner"], shown["revoked_at"]) == (None, None, None, None)
    assert shown["expires_at"] == "2099-01-31T00:00:00Z"
