"""`directory-server verify` with checks that the test decides."""

from __future__ import annotations

import json
from typing import Any

import pytest
from twisted.internet.threads import deferToThread

from directory_server.domain.checks import PackageStatus, RemoteStatus
from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.features.verification.results import RemoteCheck
from directory_server.runtime.run_sync import run_sync

from ...cli.conftest import CommandLine, run_in_test_reactor
from ...contract import awaited
from .fake_checkers import FakeCheckers

NOW = 1_000_000.0


def url(name: str) -> str:
    return f"https://{name}.example/mcp"


@pytest.fixture
def fakes(directory: CommandLine, monkeypatch: pytest.MonkeyPatch) -> FakeCheckers:
    """Return the checkers of the command. The data directory has two remotes and a package."""
    fakes = FakeCheckers.of(lambda: NOW)
    monkeypatch.setattr("directory_server.features.verification.network.network_checkers", lambda *_: fakes.checkers())
    monkeypatch.setattr("directory_server.features.verification.command.run_in_reactor", run_in_test_reactor)
    monkeypatch.setattr("directory_server.features.verification.command.PAUSE", 0.0)
    package = {"registryType": "npm", "identifier": "weather", "version": "1", "transport": {"type": "stdio"}}
    members: dict[str, dict[str, Any]] = {
        "x/a": {"remotes": [{"type": "streamable-http", "url": url("a")}]},
        "x/b": {"remotes": [{"type": "streamable-http", "url": url("b")}], "packages": [package]},
    }
    batch = [Entry({"name": name, "version": "1", "description": "x", **more}) for name, more in members.items()]
    run_sync(directory.store.publish("local", batch))
    return fakes


@awaited
async def test_checks_all_that_is_due_once(directory: CommandLine, fakes: FakeCheckers) -> None:
    fakes.remotes.results[url("b")] = RemoteCheck(url("b"), "streamable-http", NOW, RemoteStatus.UNREACHABLE)
    assert (await deferToThread(directory.succeed, "verify")).splitlines() == [
        "package exists: 1",
        "remote unreachable: 1",
        "remote works: 1",
        "3 checked.",
    ]
    assert await deferToThread(directory.succeed, "verify") == "0 checked.\n"
    assert sorted(fakes.remotes.checked) == [url("a"), url("b")]


@pytest.mark.parametrize(
    ("option", "checked"), [("--remotes", ([url("a"), url("b")], [])), ("--packages", ([], ["weather"]))]
)
@awaited
async def test_checks_the_kind_of_the_option(
    directory: CommandLine, fakes: FakeCheckers, option: str, checked: tuple[list[str], list[str]]
) -> None:
    await deferToThread(directory.succeed, "verify", option)
    assert (sorted(fakes.remotes.checked), fakes.packages.checked) == checked


@awaited
async def test_named_entries_are_checked_again_and_listed(directory: CommandLine, fakes: FakeCheckers) -> None:
    for _ in range(2):
        (package, remote) = sorted(
            json.loads(await deferToThread(directory.succeed, "verify", "x/b", "--json")), key=lambda it: it["kind"]
        )
        assert (package["kind"], package["status"], package["identifier"]) == ("package", "exists", "weather")
        assert (remote["kind"], remote["status"], remote["tools"]) == ("remote", "works", [])
    assert fakes.remotes.checked == [url("b")] * 2
    assert [line.split()[:4] for line in (await deferToThread(directory.succeed, "verify", "x/a")).splitlines()] == [
        ["NAME", "KIND", "TARGET", "STATUS"],
        ["x/a", "remote", url("a"), "works"],
    ]


@awaited
async def test_a_failed_check_of_a_named_entry_fails(directory: CommandLine, fakes: FakeCheckers) -> None:
    fakes.packages = type(fakes.packages)(lambda: NOW, {"weather": PackageStatus.MISSING})
    fakes.remotes.results[url("a")] = RemoteCheck(url("a"), "streamable-http", NOW, RemoteStatus.NOT_MCP)
    result = await deferToThread(directory.run, "verify", "x/a")
    assert result.exit_code == 1
    assert "not_mcp" in result.stdout
    # Of all that is due, a failure is a result.
    assert (await deferToThread(directory.run, "verify")).exit_code == 0


@awaited
async def test_results_are_deleted_and_due_again(directory: CommandLine, fakes: FakeCheckers) -> None:
    await deferToThread(directory.succeed, "verify")
    assert await deferToThread(directory.succeed, "verify", "--forget", "x/a") == "Deleted the results of 1 entry.\n"
    assert (await deferToThread(directory.succeed, "verify")).endswith("\n1 checked.\n")
    assert fakes.remotes.checked.count(url("a")) == 2


@awaited
async def test_an_unknown_name_is_an_error(directory: CommandLine, fakes: FakeCheckers) -> None:
    assert (
        await deferToThread(directory.fail, "verify", "x/a", "x/none") == "Error: No visible entry has the name x/none."
    )
    assert fakes.remotes.checked == []


@awaited
async def test_a_fault_of_the_storage_is_one_line(
    directory: CommandLine, fakes: FakeCheckers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise Unavailable("directory.db cannot be used now: the disk is full.")

    monkeypatch.setattr("directory_server.features.verification.tables.Verifications.put_targets", fail)
    assert await deferToThread(directory.fail, "verify", "x/a") == "directory.db cannot be used now: the disk is full."
