"""`directory-server publisher`: output and effect of each command."""

from __future__ import annotations

import json

from ...cli.conftest import CommandLine


def test_tokens_are_created_listed_and_revoked(directory: CommandLine) -> None:
    result = directory.run("publisher", "create", "--label", "ci", "--namespace", "io.acme/*", "--expires", "30d")
    secret, message = result.stdout.strip(), result.stderr
    assert secret.startswith("mcpp_")
    assert "io.acme/*" in message
    assert "shown only once" in message
    assert message.splitlines()[-1] == "The token has no effect yet: set publish.enabled to true."
    token = message.split()[3]
    (shown,) = json.loads(directory.succeed("publisher", "list", "--json"))
    assert (shown["id"], shown["label"], shown["namespaces"], shown["state"]) == (token, "ci", ["io.acme/*"], "valid")
    assert shown["expires_at"].endswith("Z")
    directory.succeed("publisher", "revoke", token)
    listed = directory.succeed("publisher", "list")
    assert listed.split()[-1] == "revoked"
    assert secret not in listed


def test_invalid_namespaces_and_unknown_tokens_are_rejected(directory: CommandLine) -> None:
    error = directory.fail("publisher", "create", "--label", "ci", "--namespace", "io.*/*")
    assert error.startswith("Error: namespace: 'io.*/*' must be a namespace such as io.acme/*")
    assert directory.fail("publisher", "revoke", "none") == "Error: No publisher token has the id 'none'."


def test_the_log_is_empty_at_first(directory: CommandLine) -> None:
    assert json.loads(directory.succeed("publisher", "log", "--json")) == []
    assert directory.succeed("publisher", "log").split()[:2] == ["AT", "TOKEN"]
