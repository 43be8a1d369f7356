"""SIGKILL at a write: nothing that was acknowledged is lost, and nobody has to repair anything."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from http.client import HTTPException
from random import Random

import pytest

from ..process.conftest import TIMEOUT, Installation, Server, entry_line, until
from .conftest import ALL, LIMIT, Faults, intact, spent

pytestmark = pytest.mark.process

KILLS = 60 if ALL else 4
"""Writes at which a process is killed, in each of the tests."""


def moments(calls: int) -> list[tuple[str, int]]:
    """Return at which of so many calls to kill, and whether that call is done by half before."""
    random = Random(calls)
    numbers = sorted({1, calls, *random.sample(range(1, calls + 1), min(KILLS, calls))})
    chosen = numbers if ALL else random.sample(numbers, min(KILLS, len(numbers)))
    return [(random.choice(["kill", "torn"]), number) for number in chosen]


def test_a_server_killed_at_a_write_of_the_quota(installation: Installation, faults: Faults) -> None:
    kept = installation.new_key("--limit", 100_000)
    charged = 0
    for action, number in moments(40):
        key = installation.new_key()
        before, answered = spent(installation), 0
        with faults.serve(installation) as server:
            assert [server.search("a", key).status for _ in range(5)] == [200] * 5
            faults.begin(action, "quota.db", number)
            with suppress(OSError, HTTPException):
                while server.search("a", kept).status == 200:
                    answered += 1
            assert server.process.wait(TIMEOUT) == -9
            faults.end()
        intact(installation)
        # The charge at which it was killed may be kept; each that was answered is.
        assert before + 5 + answered <= spent(installation) <= before + 5 + answered + 1
        charged += answered
    assert charged > 0
    with installation.serve() as server:
        statuses = [server.search("a", key).status for _ in range(LIMIT - 5 + 1)]
        assert statuses == [200] * (LIMIT - 5) + [401]
        assert "Traceback" not in server.stop()


def test_an_import_killed_at_a_write_of_the_catalogue(installation: Installation, faults: Faults) -> None:
    file, key = installation.folder / "entries.jsonl", installation.new_key("--limit", "unlimited")
    names = [f"a.example/{number:03}" for number in range(300)]

    def write(description: str) -> None:
        file.write_text("".join(entry_line(name, description) for name in names))

    def killed(action: str, number: int) -> int:
        faults.begin(action, "directory.db", number)
        done = faults.command(installation, "import", file)
        faults.end()
        return done.returncode

    with installation.serve() as server:
        write("Turn 0.")
        assert killed("count", 0) == 0
        calls = len(faults.hits)
        until(lambda: server.entry_count() == len(names), "the import")
        for turn, (action, number) in enumerate(moments(calls), 1):
            write(f"Turn {turn}.")
            # The last calls may come after all is committed, or not at all.
            assert killed(action, number) in (-9, 0)
            intact(installation)
            installation.command("import", file)
            # Each entry has changed once in each turn, whichever process wrote it.
            until(lambda: len(changes(server, key)) >= (turn + 1) * len(names), "the changes")  # noqa: B023
            assert set(Counter(changes(server, key)).values()) == {turn + 1}
            brief = f"Turn {turn}."
            until(lambda: server.search("turn", key).json["data"][0]["brief"] == brief, "the index")  # noqa: B023
        assert "Traceback" not in server.stop()


def changes(server: Server, key: str) -> list[str]:
    """Return the mcp_id of each change in the log, oldest first."""
    found, since = [], "0"
    while True:
        page = server.request(f"/api/open/v1/changes?since={since}&limit=1000", key, Accept="application/json").json
        found += [change["mcp_id"] for change in page["data"]]
        if page["next"] == since:
            return found
        since = page["next"]
