"""The log of publisher tokens, and `directory-server publisher`."""

from __future__ import annotations

import json
import re
from unittest.mock import Mock

from directory_server.config import Config
from directory_server.feature import server as registering
from directory_server.features.publishing.service import FORGET_INTERVAL, run
from directory_server.features.publishing.tokens import Publication
from directory_server.runtime.run_sync import inline, run_sync

from ...cli.conftest import CommandLine
from ...web.browsers import Browser
from ...web.conftest import Server
from .conftest import Publisher, server_json


def test_the_log_has_the_network_and_no_secret(publisher: Publisher) -> None:
    publisher.publish(server_json(), address="192.0.2.77")
    publisher.publish(server_json(publisher.secret), address="2001:db8:1:2::3")
    (_, second), (_, first) = run_sync(publisher.server.publication_log.newest())
    assert (first.network, first.label, first.token_id) == ("192.0.2.0/24", "ci", publisher.token.id)
    assert second.network == "2001:db8:1::/48"
    assert publisher.secret not in second.name


def test_old_records_of_the_log_are_deleted(publisher: Publisher, server: Server) -> None:
    publisher.publish(server_json())
    server.clock.advance(31_536_000.0 - 1)
    storage, clock = server.application.storage, server.clock
    bare = registering.Server(Config(), storage, clock, clock.seconds, inline, Mock(), Mock(), {})
    run(bare)
    (timer,) = bare.all(registering.SERVICES)
    timer.startService()
    assert len(publisher.log()) == 1
    clock.advance(FORGET_INTERVAL)
    assert publisher.log() == []
    timer.stopService()


def test_shows_the_audit_log(server: Server, operator: Browser) -> None:
    operator.get("/admin/publications")
    assert "Nothing was published with a token." in operator.text
    log = server.publication_log
    for number in range(25):
        run_sync(
            log.add(
                Publication(
                    server.clock.seconds(),
                    "tokenid",
                    "<script>alert(1)</script>",
                    "publish",
                    f"io.acme/n{number:02}",
                    "1.0.0",
                    "192.0.2.0/24",
                    "done",
                )
            )
        )
    assert len(operator.get("/admin/publications").body) < 30_000
    assert "io.acme/n24 1.0.0 publish: done" in operator.text
    assert "192.0.2.0/24" in operator.text
    assert "<script>alert" not in operator.page
    following = re.search(r'href="([^"]*)" rel="next"', operator.page)
    assert following
    operator.get(following[1])
    assert re.findall(r"io.acme/n\d\d", operator.text) == [f"io.acme/n{number:02}" for number in (4, 3, 2, 1, 0)]
    assert operator.get("/admin/publications?after=x").status == 200


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
