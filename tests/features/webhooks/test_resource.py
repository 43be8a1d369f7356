"""Webhooks as a resource: pages and command."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from directory_server.features.lists.tables import Lists
from directory_server.features.webhooks.dispatcher import Dispatcher
from directory_server.features.webhooks.service import open_webhooks
from directory_server.features.webhooks.tables import Webhooks
from directory_server.runtime.run_sync import run_sync

from ...cli.conftest import CommandLine
from ...web.browsers import Browser
from ...web.conftest import Server
from ..lists.conftest import put
from .stubs import StubSender, webhook

PATH = "/admin/webhooks"


@pytest.fixture
def webhooks(server: Server) -> Webhooks:
    return run_sync(open_webhooks(server.application.storage))


@pytest.fixture
def sender(monkeypatch: pytest.MonkeyPatch) -> StubSender:
    stub = StubSender(time.time)
    monkeypatch.setattr("directory_server.features.webhooks.sender.sender_of", lambda *_: stub)
    return stub


def add(operator: Browser, **fields: str) -> str:
    """Add a webhook; return the code of the error."""
    operator.get(PATH)
    return operator.submit(PATH, {"label": "Chat", "url": "https://a.example/", "added": "yes", **fields})


def test_a_webhook_is_added_with_its_secret(server: Server, operator: Browser, webhooks: Webhooks) -> None:
    assert add(operator, namespaces="x/* y/*", keywords="mail") == ""
    (added,) = run_sync(webhooks.list())
    assert (added.kinds, added.namespaces, added.keywords) == (("added",), ("x/*", "y/*"), "mail")
    (secret,) = run_sync(webhooks.secrets(added.id, server.clock.seconds()))
    assert secret in operator.text


def test_a_webhook_of_a_list(server: Server, operator: Browser, webhooks: Webhooks) -> None:
    put(Lists(server.application.storage.tables), "all", is_all=True)
    operator.get(PATH)
    assert '<option value="all">all</option>' in operator.page
    assert add(operator, list="all") == ""
    (added,) = run_sync(webhooks.list())
    assert (added.list, added.has_all) == ("all", True)
    operator.get(f"{PATH}/{added.id}")
    assert "List all" in operator.text


INVALID = [
    ({"label": " "}, "label_wrong"),
    ({"url": "http://127.0.0.1/"}, "url_wrong"),
    ({"namespaces": "x " * 21}, "namespaces_wrong"),
    ({"keywords": "x" * 300}, "keywords_wrong"),
    ({"list": "none"}, "list_unknown"),
    ({"list": "no\0ne"}, "list_unknown"),
]


def test_an_invalid_form_adds_nothing(operator: Browser, webhooks: Webhooks, subtests: pytest.Subtests) -> None:
    for fields, code in INVALID:
        with subtests.test(str(fields)[:40]):
            assert add(operator, **fields) == code
    assert run_sync(webhooks.list()) == []


def test_a_test_is_sent_and_logged(server: Server, operator: Browser, webhooks: Webhooks, sender: StubSender) -> None:
    run_sync(webhooks.add(added := webhook()))
    before = run_sync(webhooks.find(added.id))
    operator.get(f"{PATH}/{added.id}")
    operator.follow(operator.post(f"{PATH}/{added.id}/test"))
    assert "The receiver has accepted the test." in operator.text
    sender.answers[added.url] = 500
    operator.follow(operator.post(f"{PATH}/{added.id}/test"))
    assert "has not accepted the test" in operator.text
    assert "It answered 500." in operator.text
    assert [each.type for each in sender.sent[added.url]] == ["test", "test"]
    assert run_sync(webhooks.find(added.id)) == before, "a test changes no state"


def test_a_secret_is_rotated(server: Server, operator: Browser, webhooks: Webhooks) -> None:
    run_sync(webhooks.add(added := webhook()))
    operator.get(f"{PATH}/{added.id}")
    operator.follow(operator.post(f"{PATH}/{added.id}/rotate"))
    newest, _ = run_sync(webhooks.secrets(added.id, server.clock.seconds()))
    assert newest in operator.text


def test_the_command_adds_lists_and_removes(directory: CommandLine) -> None:
    result = directory.run(
        "webhook", "add", "https://a.example/", "--label", "Chat", "--kind", "deleted", "--namespace", "x/*"
    )
    secret, added = result.stdout.strip(), result.stderr.split()[2]
    assert secret.startswith("whsec_")
    (listed,) = json.loads(directory.succeed("webhook", "list", "--json"))
    assert (listed["id"], listed["kinds"], listed["namespaces"], listed["state"]) == (
        *(added, ["deleted"], ["x/*"]),
        "active",
    )
    assert secret not in directory.succeed("webhook", "list")
    assert json.loads(directory.succeed("webhook", "log", added, "--json")) == []
    assert directory.succeed("webhook", "rotate", added).startswith("whsec_")
    directory.succeed("webhook", "remove", added)
    assert directory.fail("webhook", "remove", added) == f"Error: No webhook has the id '{added}'."
    assert directory.fail("webhook", "add", "https://a.example/", "--label", "x", "--list", "none") == (
        "Error: list: there is no list 'none'."
    )
    assert directory.fail("webhook", "add", "http://127.0.0.1/", "--label", "x").startswith("Error: url: must begin")


def test_the_command_sends_a_test(directory: CommandLine, sender: StubSender, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(main: Callable[[object], Coroutine[Deferred[Any], Any, None]], what: str) -> None:
        run_sync(main(None))

    monkeypatch.setattr("directory_server.cli.resource_command.run_in_reactor", run)
    added = directory.run("webhook", "add", "https://a.example/", "--label", "Chat").stderr.split()[2]
    assert directory.succeed("webhook", "test", added).startswith("Accepted with status 200")
    sender.answers["https://a.example/"] = 404
    assert directory.run("webhook", "test", added).exit_code == 1
    assert [each["status"] for each in json.loads(directory.succeed("webhook", "log", added, "--json"))] == [404, 200]


@pytest.mark.parametrize("server", [{"http.health": "full"}], indirect=True)
def test_healthz_counts_paused_webhooks(server: Server, webhooks: Webhooks) -> None:
    run_sync(webhooks.add(webhook()))
    (dispatcher,) = (each for each in server.application.background if isinstance(each, Dispatcher))
    for failing_since, count in (("NULL", 0), ("1", 1)):
        run_sync(server.application.storage.tables.run(f"UPDATE webhook SET failing_since = {failing_since}"))
        dispatcher.known = run_sync(webhooks.list())
        assert server.get("/healthz").json["faults"] == {"paused_webhooks": count}
