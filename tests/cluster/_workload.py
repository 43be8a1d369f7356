"""Clients of several servers on one database while these fail, and what must hold of the database afterwards."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from http.client import HTTPException
from pathlib import Path
from random import Random
from typing import IO

import psycopg
from attrs import define, field

from directory_server.config import load
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.runtime.run_sync import run_sync
from directory_server.storage import Storage, command_environment, open_storage

from ..process.conftest import TIMEOUT, Client, environment, until

ROOT = Path(__file__).parents[2]

LIMITS = (30,) * 6 + (1_000_000,) * 4
"""The quotas of the keys: some are used up soon, and must stay so."""

CALLERS = 4
"""Clients that charge keys."""

PUBLISHERS = ("rain-reports", "weather-company")
"""Namespaces of the publishers. Names that resemble each other would be flagged, which is another change."""

PAUSE = 0.1
"""Seconds between two batches of a publisher."""

EVENTS = 20
"""Events after which a reader continues at another server."""

LAST = "z/last"


@contextmanager
def storage(conninfo: str) -> Iterator[Storage]:
    """Open the storage of a database, as a command does."""
    with closing(
        open_storage(
            load(file=None, environ={"DIRECTORY_SERVER_DATABASE": conninfo}, settings=[]), command_environment()
        )
    ) as opened:
        yield opened


@define
class Reader:
    """Follows the change feed, at one server after the other, and continues after the last event id."""

    servers: Sequence[Client]
    key: str
    first: int
    changes: list[tuple[int, str]] = field(factory=list)
    resets: int = 0
    connections: int = 0
    last: str = "0"
    is_done: bool = False
    failure: str = ""

    def follow(self) -> None:
        """Read until the change of the entry LAST."""
        try:
            while not self.is_done and not self.failure:
                server = self.servers[(self.first + self.connections) % len(self.servers)]
                self.connections += 1
                with suppress(OSError, HTTPException):
                    headers = {"Accept": "text/event-stream", "Last-Event-ID": self.last}
                    with server.open("/api/open/v1/changes", self.key, **headers) as response:
                        if response.status == 200:
                            self._read(response)
                        elif response.status != 503:
                            self.failure = f"status {response.status}: {response.read()!r}"
                        else:
                            time.sleep(0.05)
        except Exception as error:
            self.failure = repr(error)

    def _read(self, lines: IO[bytes]) -> None:
        identity, name, count = "", "", 0
        for line in lines:
            label, _, text = line.rstrip(b"\n").partition(b": ")
            if label == b"id":
                identity = text.decode()
            elif label == b"event":
                name = text.decode()
            elif label == b"data":
                self.last = identity
                if name == "reset":
                    self.resets += 1
                    continue
                mcp_id = text.split(b'"mcp_id":"')[1].split(b'"')[0].decode()
                self.changes.append((int(identity.partition("-")[0]), mcp_id))
                count += 1
                if mcp_id == mcp_id_of(LAST):
                    self.is_done = True
                if self.is_done or count % EVENTS == 0:
                    return


@define
class Workload:
    """Charges, publishes and readers of the change feed at `servers`, of which a test may replace members.

    `conninfo` is that of the database, without the network of a server.
    """

    servers: list[Client]
    conninfo: str
    pause: float = PAUSE
    """Seconds between two batches of a publisher."""
    imports: bool = False
    """Whether others publish, too: their entries may change several times."""
    keys: dict[str, tuple[str, int]] = field(factory=dict)
    """Id and limit of each key, by its secret."""
    acknowledged: Counter[str] = field(factory=Counter)
    used_up: set[str] = field(factory=set)
    """Ids of keys whose quota a server has called used up."""
    unknown: Counter[str] = field(factory=Counter)
    """Charges that failed, by the id of the key: they may be spent."""
    published: list[list[str]] = field(factory=list)
    """The acknowledged names of each publisher, in order."""
    failures: list[str] = field(factory=list)
    readers: list[Reader] = field(factory=list)
    _charged: dict[int, float] = field(factory=dict)
    """The latest begin of a charge that succeeded, by the port of the server."""
    _over: threading.Event = field(factory=threading.Event)
    _lock: threading.Lock = field(factory=threading.Lock)
    _threads: list[threading.Thread] = field(factory=list)
    _publishers: list[subprocess.Popen[str]] = field(factory=list)
    _stack: ExitStack = field(factory=ExitStack)

    def __enter__(self) -> Workload:
        with storage(self.conninfo) as opened:
            for number, limit in enumerate(LIMITS):
                key, secret = run_sync(opened.people.keys.create(f"key {number}", limit=limit, expires_at=None))
                self.keys[secret] = key.id, limit
            _, free = run_sync(opened.people.keys.create("reader", limit=None, expires_at=None))
        self.readers = [Reader(self.servers, free, number) for number in range(len(self.servers))]
        for namespace in PUBLISHERS:
            self._publish(namespace)
        clients: list[Callable[[], None]] = [partial(self._charge, number) for number in range(CALLERS)]
        for target in (*clients, *(reader.follow for reader in self.readers)):
            self._threads.append(threading.Thread(target=target, daemon=True))
        for thread in self._threads:
            thread.start()
        self.recovered()
        until(lambda: all(self.published), "the first batch of each publisher")
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for process in self._publishers:
            process.kill()
            process.wait()

    def recovered(self, *servers: Client, timeout: float = TIMEOUT) -> float:
        """Wait until each of `servers`, by default all, has charged a key; return the seconds."""
        began = time.monotonic()

        def have_charged() -> bool:
            return all(self._charged.get(each.port, 0.0) > began for each in servers or self.servers)

        until(have_charged, "charges at all servers", timeout)
        return max(self._charged[each.port] for each in servers or self.servers) - began

    def finish(self) -> None:
        """Stop the clients once a key is used up; the readers first receive all that is published."""
        until(lambda: self.used_up or self.failures, "a key is used up")
        self._over.set()
        for process in self._publishers:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(TIMEOUT) == 0
        with storage(self.conninfo) as opened:
            run_sync(opened.store.publish("a", [Entry({"name": LAST, "version": "1.0.0", "description": "It ends."})]))
        for thread in self._threads:
            thread.join(TIMEOUT)
        assert not self.failures, self.failures[:5]
        assert [reader.failure for reader in self.readers] == [""] * len(self.readers)
        assert all(reader.is_done for reader in self.readers)

    def kept(self) -> Counter[str]:
        """Return the charges that the database has of each key."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            return Counter(dict(connection.execute("SELECT key, count(*) FROM spent GROUP BY key").fetchall()))

    def log(self) -> list[tuple[int, str]]:
        """Return the number and the entry of all changes that the database has."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            return connection.execute("SELECT seq, mcp_id FROM change ORDER BY seq").fetchall()

    def check_charges(self) -> None:
        """Assert: acknowledged ≤ kept ≤ limit, and nothing else is spent than charges of unknown fate."""
        kept = self.kept()
        for key_id, limit in self.keys.values():
            assert self.acknowledged[key_id] <= kept[key_id] <= limit, key_id
            assert kept[key_id] <= self.acknowledged[key_id] + self.unknown[key_id], key_id
        assert any(kept[key_id] == limit for key_id, limit in self.keys.values()), "no key was used up"

    def check_changes(self) -> None:
        """Assert that the log has no gap and all acknowledged entries, in order, and that the readers saw the same."""
        log = self.log()
        assert [seq for seq, _ in log] == list(range(1, len(log) + 1))
        places = {mcp_id: seq for seq, mcp_id in log}
        assert self.imports or len(places) == len(log), "an entry was announced twice"
        for names in self.published:
            seen = [places[mcp_id_of(name)] for name in names]
            assert seen == sorted(seen)
        assert sum(map(len, self.published)) > 0
        for reader in self.readers:
            assert reader.changes == log
            assert reader.connections > len(log) // EVENTS
            assert reader.resets == 0

    def _publish(self, name: str) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.publisher", name, str(self.pause)],
            cwd=ROOT,
            env=environment(DIRECTORY_SERVER_DATABASE=self.conninfo),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        names: list[str] = []
        self._publishers.append(process)
        self.published.append(names)

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                names.extend(line.split())

        self._threads.append(threading.Thread(target=read, daemon=True))

    def _charge(self, number: int) -> None:
        random, lock = Random(number), self._lock
        while not self._over.is_set():
            server = random.choice(self.servers)
            secret = random.choice(list(self.keys))
            key_id, _ = self.keys[secret]
            began = time.monotonic()
            try:
                response = server.search("rain", secret)
            except (OSError, HTTPException):
                # The process was killed.
                with lock:
                    self.unknown[key_id] += 1
                time.sleep(0.05)
                continue
            with lock:
                match response.status:
                    case 200:
                        self.acknowledged[key_id] += 1
                        self._charged[server.port] = max(began, self._charged.get(server.port, 0.0))
                    case 503 if response.headers["Retry-After"] == "1" and response.json["error"] == "unavailable":
                        self.unknown[key_id] += 1
                    case 401 if response.json["error"] == "rate_limited":
                        self.used_up.add(key_id)
                    case status:
                        self.failures.append(f"a search had the status {status}: {response.body!r}")
            # Leave processor time to the servers and to other tests.
            time.sleep(0.01 if response.status == 200 else 0.02)
