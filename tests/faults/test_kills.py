"""SIGKILL during a write: no acknowledged write is lost, and no repair is needed."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from http.client import HTTPException
from random import Random

import pytest

from ..process.conftest import TIMEOUT, Installation, Server, entry_line, until
from .conftest import ALL, LIMIT, Faults, assert_databases_intact, charge_count

pytestmark = pytest.mark.process

KILLS = 60 if ALL else 2
"""Number of writes at which each test kills a process."""


def choose_kills(calls: int) -> list[tuple[str, int]]:
    """Return pairs of an action and a call number up to `calls`: kill before the call, or after half of it (torn)."""
    random = Random(calls)
    numbers = sorted({1, calls, *random.sample(range(1, calls + 1), min(KILLS, calls))})
    chosen = numbers if ALL else random.sample(numbers, min(KILLS, len(numbers)))
    return [("kill" if index % 2 else "torn", number) for index, number in enumerate(chosen)]


def test_server_killed_during_a_quota_write_loses_no_charge(installation: Installation, faults: Faults) -> None:
    charged_key = installation.new_key("--limit", 100_000)
    total = 0
    for action, number in choose_kills(40):
        key = installation.new_key()
        before, acknowledged = charge_count(installation), 0
        with faults.serve(installation) as server:
            assert [server.search("a", key).status for _ in range(5)] == [200] * 5
            faults.begin(action, "quota.db", number)
            with suppress(OSError, HTTPException):
                while server.search("a", charged_key).status == 200:
                    acknowledged += 1
            assert server.process.wait(TIMEOUT) == -9
            faults.end()
        assert_databases_intact(installation)
        # The charge during which the server was killed may be stored; every acknowledged charge is.
        assert before + 5 + acknowledged <= charge_count(installation) <= before + 5 + acknowledged + 1
        total += acknowledged
    assert total > 0
    with installation.serve() as server:
        statuses = [server.search("a", key).status for _ in range(LIMIT - 5 + 1)]
        assert statuses == [200] * (LIMIT - 5) + [401]
        server.stop()


def test_import_killed_during_a_write_loses_no_entry(installation: Installation, faults: Faults) -> None:
    file, key = installation.folder / "entries.jsonl", installation.new_key("--limit", "unlimited")
    names = [f"a.example/{number:03}" for number in range(300)]

    def write(description: str) -> None:
        file.write_text("".join(entry_line(name, description) for name in names))

    def import_with_fault(action: str, number: int) -> int:
        faults.begin(action, "directory.db", number)
        process = faults.command(installation, "import", file)
        faults.end()
        return process.returncode

    with installation.serve() as server:
        write("Turn 0.")
        assert import_with_fault("count", 0) == 0
        calls = len(faults.hits)
        until(lambda: server.entry_count() == len(names), "the import")
        for turn, (action, number) in enumerate(choose_kills(calls), 1):
            write(f"Turn {turn}.")
            # The last calls may come after the last commit, or not at all.
            assert import_with_fault(action, number) in (-9, 0)
            assert_databases_intact(installation)
            installation.command("import", file)
            # Each entry changed exactly once per turn, whichever process wrote it.
            until(lambda: len(changed_ids(server, key)) >= (turn + 1) * len(names), "the changes")  # noqa: B023
            assert set(Counter(changed_ids(server, key)).values()) == {turn + 1}
            brief = f"Turn {turn}."
            until(lambda: server.search("turn", key).json["data"][0]["brief"] == brief, "the index")  # noqa: B023
        server.stop()


def changed_ids(server: Server, key: str) -> list[str]:
    """Return the mcp_id of each change in the log, oldest first."""
    found, since = [], "0"
    while True:
        page = server.request(f"/api/open/v1/changes?since={since}&limit=1000", key, Accept="application/json").json
        found += [change["mcp_id"] for change in page["data"]]
        if page["next"] == since:
            return found
        since = page["next"]
