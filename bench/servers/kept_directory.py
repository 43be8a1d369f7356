"""Measure a server on a data directory that has entries: start, memory, searches, changes, lists, and reactor turns.

The server writes the measured changes to the data directory.
"""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, repeat
from pathlib import Path
from statistics import median
from urllib.parse import quote

from attrs import evolve, frozen

from directory_server.domain.entries import Entry
from directory_server.runtime.run_sync import run_sync
from directory_server.serialization import restore_entry

from ..clients.http_load import Settings, load
from ..clients.http_requests import REST_PATH, Credentials, rest_requests
from ..measurement.process_stats import CpuMeter, cpu_seconds, memory, peak_memory, proportional_memory
from .data_directory import create_keys, open_store, publish
from .instrumented_server import LongestTurns, instrumented
from .launch import free_port, health, run_command

SETTINGS = {
    "LOG__ACCESS": "off",
    "PUBLISH__ENABLED": "true",
    "PUBLISH__PER_MINUTE": "1000000",
    "REGISTRY__ACCESS": "public",
    "WEB__SEARCH": "public",
    "WEB__PER_MINUTE": "1000000",
    "WEB__URL": "https://bench.example",
    "ARD__ACCESS": "public",
}

ARD = "/api/ard/v1"

LISTS: Mapping[str, str | tuple[str, object]] = {
    "start page": "/",
    "list of a word": "/?q=database",
    "list of a category": "/?q=tag:search",
    "list of all, by stars": "/?sort=stars",
    "feed of new entries": "/feed.atom",
    "index of the sitemap": "/sitemap.xml",
    "part of the sitemap": "/sitemap.xml?page=1",
    "registry API, first page": "/v0.1/servers?limit=100",
    "registry API, all versions": "/v0.1/servers?limit=100&version=all",
    "registry API, rare version": "/v0.1/servers?version=99.99.99",
    "registry API, new entries": "/v0.1/servers?updated_since={now}",
    "registry API, search": "/v0.1/servers?search=database",
    "change feed, first page": "/api/open/v1/changes?limit=100",
    "change feed, rare word": "/api/open/v1/changes?keywords=qqzzxx",
    "registry API, one entry": "/v0.1/servers/{name}/versions/latest",
    "gallery, page of a search": "/v0.1/servers?limit=50&version=latest&search=database",
    "ARD search": (f"{ARD}/search", {"query": {"text": "read rows of a postgres database"}}),
    "ARD explore": (
        f"{ARD}/explore",
        {"query": {"text": "database"}, "resultType": {"facets": [{"field": "publisher"}, {"field": "tags"}]}},
    ),
    "ARD list": f"{ARD}/agents?pageSize=30&offset=60&type=application/mcp-server-card%2Bjson",
    "ARD manifest": "/.well-known/ai-catalog.json",
    "server card of an entry": f"{ARD}/cards/{{mcp_id}}",
    "server card of this server": "/api/open/mcp/server-card",
    "marketplace": "/v0.1/claude/marketplace.json?limit=100",
    "dump": "/v0.1/dump.jsonl.gz",
}
"""Pages and documents, and their paths, with the body of a POST."""

BULK = 100
"""Entries that another process changes in one batch."""

SEARCHABLE = 60.0
"""Seconds within which changes must be searchable."""

LOADING = 3_600.0
"""Seconds within which a server must respond. It may have to build an index of a million entries first."""


@frozen
class Row:
    """A figure as text; `goal` is empty or a bound, and `value` the figure that must not exceed it."""

    name: str
    text: str
    value: float = 0.0
    goal: float | None = None

    def __str__(self) -> str:
        bound = "" if self.goal is None else f"  goal {self.goal:g}: {'yes' if self.value <= self.goal else 'NO'}"
        return f"{self.name:<42}{self.text}{bound}"


@frozen
class Kept:
    """A running server on `folder`, its process, the port that returns its turns, an API key and a publisher token."""

    folder: Path
    port: int
    process: int
    turns: int
    key: str
    token: str

    def begin(self) -> CpuMeter:
        """Forget the turns so far; return a meter of the server's CPU time."""
        self.longest_turn()
        return CpuMeter([self.process])

    def longest_turn(self) -> LongestTurns:
        """Return the longest turns of the reactor since the last call."""
        return LongestTurns(**json.loads(self.get("/longest", port=self.turns)))

    def get(self, path: str, *, port: int | None = None, body: object = None) -> bytes:
        """Return the body of a response, of a POST with `body`. Raises SystemExit unless its status is 200."""
        headers = {"Authorization": f"Bearer {self.key}"} | ({"Content-Type": "application/json"} if body else {})
        sent = json.dumps(body) if body else None
        return self._send("POST" if body else "GET", path, headers, sent, port or self.port)

    def post(self, path: str, body: object) -> bytes:
        """Send JSON with the publisher token."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        return self._send("POST", path, headers, json.dumps(body), self.port)

    def _send(self, method: str, path: str, headers: Mapping[str, str], body: str | None, port: int) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LOADING)
        connection.request(method, path, body, {"Accept": "*/*", "Accept-Encoding": "gzip", **headers})
        response = connection.getresponse()
        found = response.read()
        connection.close()
        if response.status not in (200, 201):
            raise SystemExit(f"{path}: {response.status} {found[:300]!r}")
        return found

    def memory(self, when: str) -> Iterator[Row]:
        """Yield the rows of the present memory."""
        resident, peak = memory(self.process) / 1e6, peak_memory(self.process) / 1e6
        yield Row(f"RSS {when}, MB", f"{resident:.0f} (highest {peak:.0f})", peak, 1_500)
        yield Row(f"PSS {when}, MB", f"{proportional_memory(self.process) / 1e6:.0f}")

    def searches(
        self, name: str, queries: Sequence[str], connections: int, goals: tuple[float, float]
    ) -> Iterator[Row]:
        """Yield the rows of REST searches, each sent once. `goals` are those of p50 and p99 in ms."""
        self.begin()
        requests = rest_requests(REST_PATH, queries, repeat(Credentials(self.key)))
        outcome = load(requests, Settings(self.port, [self.process], len(queries) // 10, connections, 600.0))
        for part, value, goal in zip(("p50", "p99"), (outcome.p50, outcome.p99), goals, strict=True):
            yield Row(f"{name}, {part} ms", f"{value:.1f}", value, goal)
        yield Row(f"{name}, CPU ms", f"{outcome.cpu / outcome.requests * 1e3:.2f}")
        yield self.turn(name)

    def turn(self, name: str) -> Row:
        """Return the row of the longest turn since the last call. The goal is for the CPU time of the turn."""
        turns = self.longest_turn()
        return Row(f"{name}, longest turn ms", f"{turns.elapsed:.0f}, CPU {turns.cpu:.0f}", turns.cpu, 30)

    def changes(self, entries: Sequence[Entry]) -> Iterator[Row]:
        """Yield the rows of entries that are published one by one over the API."""
        elapsed, count = [], health(self.port)["entries"]
        idle = self._idle_share()
        meter, began = self.begin(), time.monotonic()
        for number, entry in enumerate(entries, 1):
            name = f"example.bench/change-{time.time_ns()}"
            server = {"name": name, "version": "1.0.0", "description": entry.brief[:100] or name}
            sent = time.monotonic()
            self.post("/v0.1/publish", {"$schema": SCHEMA, **server})
            self.wait(count + number)
            elapsed.append((time.monotonic() - sent) * 1e3)
        cpu = (meter.seconds() - idle * (time.monotonic() - began)) / len(entries) * 1e3
        yield Row(
            "one change, searchable ms", f"{median(elapsed):.0f} (longest {max(elapsed):.0f})", median(elapsed), 50
        )
        yield Row("one change, CPU ms", f"{cpu:.1f}", cpu, 50)
        yield self.turn("one change")

    def bulk(self, entries: Sequence[Entry]) -> Iterator[Row]:
        """Yield the rows of entries that another process changes in one batch."""
        word = f"bulk{time.time_ns()}"
        changed = [
            evolve(each, server={**each.server, "description": f"{word} {number}"})
            for number, each in enumerate(entries)
        ]
        meter, began = self.begin(), time.monotonic()
        publish(self.folder, iter(changed), source="local")
        while json.loads(self.get(f"{REST_PATH}?keywords={word}&limit=100"))["count"] < len(changed):
            if time.monotonic() - began > SEARCHABLE:
                raise SystemExit(f"changes are not searchable after {SEARCHABLE:.0f} seconds")
            time.sleep(0.05)
        yield Row(f"{len(changed)} changes, CPU ms", f"{meter.seconds() * 1e3:.0f}")
        yield self.turn(f"{len(changed)} changes")

    def lists(self, entry: Entry) -> Iterator[Row]:
        """Yield a row for each of LISTS: the median and the longest of five requests. `entry` is read alone."""
        values = {"name": quote(entry.name, safe=""), "mcp_id": entry.mcp_id}
        values["now"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for name, request in LISTS.items():
            path, body = (request, None) if isinstance(request, str) else request
            elapsed, cpu = [], []
            self.begin()
            for _ in range(5):
                meter, began = CpuMeter([self.process]), time.monotonic()
                size = len(self.get(path.format(**values), body=body))
                elapsed.append((time.monotonic() - began) * 1e3)
                time.sleep(0.01)
                cpu.append(meter.seconds() * 1e3)
            turns = self.longest_turn()
            text = f"{median(elapsed):.0f} ms, CPU {median(cpu):.0f} (longest {max(cpu):.0f}), {size:,} bytes"
            yield Row(name, f"{text}; turn {turns.elapsed:.0f}, CPU {turns.cpu:.0f}", turns.cpu, 30)

    def wait(self, count: int) -> None:
        """Wait until `count` entries are searchable."""
        end = time.monotonic() + SEARCHABLE
        while health(self.port)["entries"] < count:
            if time.monotonic() > end:
                raise SystemExit(f"a change is not searchable after {SEARCHABLE:.0f} seconds")
            time.sleep(0.002)

    def _idle_share(self) -> float:
        meter, began = CpuMeter([self.process]), time.monotonic()
        time.sleep(1)
        return meter.seconds() / (time.monotonic() - began)


SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


@contextmanager
def kept_server(folder: Path, query: str) -> Iterator[tuple[Kept, Sequence[Row]]]:
    """Run a server on `folder`; yield it, and the rows of its start, which ends with the response to a search."""
    (key,) = create_keys(folder, 1, None)
    label = f"bench-{time.time_ns()}"
    words = ("publisher", "create", "--label", label, "--namespace", "example.bench/*")
    token, port = run_command(folder, *words)[1].split()[-1], free_port()
    environ = {f"DIRECTORY_SERVER_{name}": value for name, value in SETTINGS.items()}
    began = time.monotonic()
    options = ("-d", str(folder), "-l", f"tcp:{port}:interface=127.0.0.1")
    with instrumented(*options, environ={**os.environ, **environ}, log=folder / "bench.log") as (process, turns):
        server = Kept(folder, port, process, turns, key, token)
        server.get(f"{REST_PATH}?keywords={quote(query)}")
        seconds = time.monotonic() - began
        rows = [
            Row("start to the first search, s", f"{seconds:.1f}", seconds, 2),
            Row("start to the first search, CPU s", f"{cpu_seconds([process]):.1f}"),
            *server.memory("after the start"),
            Row("entries", f"{health(port)['entries']:,}"),
        ]
        yield server, rows


def stored_entries(folder: Path, count: int) -> list[Entry]:
    """Return some visible entries of a data directory."""
    with open_store(folder) as store:
        changes = run_sync(store.current("", count))
    return [restore_entry(change.body) for change in islice(changes, count) if change.body]


def rows(server: Kept, queries: Sequence[str], odd: Sequence[str], changes: int) -> Iterator[Row]:
    """Yield the rows of a server. `queries` are searched for once, in two parts; `odd` are hostile."""
    half = len(queries) // 2
    yield from server.searches("searches", queries[:half], 1, (8, 50))
    yield from server.searches("searches, 8 connections", queries[half:], 8, (64, 400))
    yield from _timed(server, "hostile searches", lambda: [_search(server, each) for each in odd])
    yield from server.memory("after searches")
    entries = stored_entries(server.folder, BULK)
    yield from server.changes(entries[:changes])
    yield from server.bulk(entries)
    yield from server.memory("after changes")
    yield from server.lists(entries[0])
    yield from server.memory("after lists")


def _timed(server: Kept, name: str, work: Callable[[], Sequence[float]]) -> Iterator[Row]:
    server.begin()
    elapsed = work()
    yield Row(f"{name}, ms", f"{median(elapsed):.0f} (longest {max(elapsed):.0f})")
    yield server.turn(name)


def _search(server: Kept, text: str) -> float:
    """Search for `text`, whatever the response is; return the milliseconds."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SEARCHABLE)
    began = time.monotonic()
    target = f"{REST_PATH}?keywords={quote(text, errors='replace')}"
    connection.request("GET", target, headers={"Authorization": f"Bearer {server.key}"})
    connection.getresponse().read()
    connection.close()
    return (time.monotonic() - began) * 1e3
