"""The official publisher against two processes on one data directory."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from .conftest import Installation, Server, until
from .mcp_publisher import McpPublisher, PublisherFailed
from .test_fleet import additional_process

pytestmark = pytest.mark.process

SETTINGS = ("--set", "publish.enabled=true", "--set", "registry.access=public")

NAME = "io.acme/xylophone"


def server_json(version: str = "1.0.0", **members: Any) -> dict[str, Any]:
    return {"name": NAME, "description": "Plays the xylophone.", "version": version, **members}


def new_token(installation: Installation, *options: str) -> str:
    return installation.command("publisher", "create", "--label", "ci", "--namespace", "io.acme/*", *options).strip()


def test_the_official_publisher_publishes_and_changes_the_status(installation: Installation, tmp_path: Path) -> None:
    key = installation.new_key("--limit", "unlimited")
    publisher = McpPublisher(tmp_path)
    with (
        installation.serve("--reuse-port", *SETTINGS) as first,
        additional_process(installation, first, *SETTINGS) as second,
    ):
        publisher.login_github(first.url, new_token(installation))
        assert publisher.publish(server_json()) == (NAME, "1.0.0")
        until(lambda: first.entry_count() == 1 and is_found_by_both(installation, key, [first, second]), "the entry")
        with pytest.raises(PublisherFailed, match="version_exists"):
            publisher.publish(server_json())
        package = {"registryType": "npm", "identifier": "x", "transport": {"type": "http"}}
        with pytest.raises(PublisherFailed, match=r"packages\[0\].transport.type: must be one of 'stdio'"):
            publisher.publish(server_json("1.1.0", packages=[package]))
        publisher.publish(server_json("1.1.0"))
        assert publisher.status(NAME, "1.1.0", "deleted", "It leaks.") == ("active", "deleted")
        assert json.loads(installation.command("entry", "show", NAME))["version"] == "1.0.0"
        assert json.loads(installation.command("entry", "show", NAME))["source"] == "published"
        # The message of the deleted version is removed.
        assert publisher.status_of_all(NAME, "deleted") == 2
        until(lambda: first.search_names("xylophone", key) == [], "the entry is gone")
        (shown,) = json.loads(installation.command("publisher", "list", "--json"))
        installation.command("publisher", "revoke", shown["id"])
        # Requests reach any of the two processes.
        for _ in range(10):
            with pytest.raises(PublisherFailed, match="status 401"):
                publisher.publish(server_json("2.0.0"))
        with pytest.raises(PublisherFailed, match="token exchange failed with status 401"):
            publisher.login_github(first.url, json.loads(publisher.token_file.read_text())["token"])
        for server in (first, second):
            assert "Traceback" not in server.stop()
    records = json.loads(installation.command("publisher", "log", "--json"))
    assert [(each["action"], each["version"], each["outcome"]) for each in reversed(records)] == [
        ("publish", "1.0.0", "done"),
        ("publish", "1.0.0", "version_exists"),
        ("publish", "1.1.0", "invalid_server"),
        ("publish", "1.1.0", "done"),
        ("status: deleted", "1.1.0", "done"),
        ("status: deleted", "*", "done"),
    ]
    assert {each["network"] for each in records} == {"127.0.0.0/24"}


def is_found_by_both(installation: Installation, key: str, servers: list[Server]) -> bool:
    """Return whether searches find the entry in both processes, which share a port."""
    found = Counter[str]()
    for _ in range(20):
        response = servers[0].search("xylophone", key)
        if response.json["count"]:
            found[str(response.headers["X-Request-Id"]).partition("-")[0]] += 1
    return len(found) == len(servers)


def test_of_publishers_of_one_version_at_once_one_succeeds(installation: Installation, tmp_path: Path) -> None:
    with (
        installation.serve("--reuse-port", *SETTINGS) as first,
        additional_process(installation, first, *SETTINGS) as second,
    ):
        publisher = McpPublisher(tmp_path)
        publisher.login_github(first.url, new_token(installation))

        def publish(number: int) -> str:
            try:
                publisher.publish(server_json(description=f"Of {number}."))
            except PublisherFailed as error:
                return "exists" if "version_exists" in str(error) else str(error)
            return "done"

        with ThreadPoolExecutor(8) as threads:
            outcomes = Counter(threads.map(publish, range(16)))
        assert outcomes == {"done": 1, "exists": 15}
        for server in (first, second):
            assert "Traceback" not in server.stop()
