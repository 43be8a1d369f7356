"""A process with the storage of a server, without HTTP, that repeats one operation.

    python -m bench.servers.storage_operations OPERATION CALLERS SECONDS

The configuration comes from the environment. The first line of the standard input is a JSON list of names: ids of keys,
secrets or ids of entries, depending on OPERATION. The process prints a line when it is ready, begins after the second
line of the input, and prints the result as JSON. It ends after SECONDS, or, for the operation `find`, when each name
was used once, so that no cache helps.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import cycle
from typing import Any

from attrs import asdict, frozen
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred, gatherResults, maybeDeferred
from twisted.internet.task import deferLater, react

from directory_server.composition import environment, machine_runtime
from directory_server.config import load
from directory_server.features import SECTIONS
from directory_server.storage import Storage, open_storage

LIMIT = 1_000_000_000
"""The quota of a key: every charge is admitted and written."""

reactor: Any = _reactor


@frozen
class Operations:
    """The result: the number of operations, wall and CPU seconds, and latencies in milliseconds."""

    count: int
    seconds: float
    cpu: float
    p50: float
    p99: float


def operation(storage: Storage, name: str) -> Callable[[str], Awaitable[object]]:
    """Return the function that runs one operation on a name."""
    found: dict[str, Callable[[str], Awaitable[object]]] = {
        "charge": lambda key_id: storage.quota.charge(key_id, LIMIT),
        "peek": lambda key_id: storage.quota.peek(key_id, LIMIT),
        "find": storage.keys.find,
        "entry": storage.store.entry,
    }
    return found[name]


async def measure(
    run: Callable[[str], Awaitable[object]], names: Iterator[str], callers: int, seconds: float
) -> Operations:
    """Run operations with `callers` concurrent callers."""
    took: list[float] = []
    began, cpu = time.perf_counter(), time.process_time()
    end = began + seconds

    async def call() -> None:
        while (start := time.perf_counter()) < end and (name := next(names, None)) is not None:
            await run(name)
            took.append(time.perf_counter() - start)

    await gatherResults([Deferred.fromCoroutine(call()) for _ in range(callers)], consumeErrors=True)
    elapsed, used = time.perf_counter() - began, time.process_time() - cpu
    took.sort()
    return Operations(len(took), elapsed, used, took[len(took) // 2] * 1e3, took[len(took) * 99 // 100] * 1e3)


async def main(_: Any, name: str, callers: str, seconds: str) -> None:
    """Open the storage, wait for the begin, and print the result."""
    runtime = machine_runtime(reactor)
    config = load(file=None, environ=os.environ, settings=[], sections=SECTIONS)
    storage = open_storage(config, environment(reactor, runtime))
    bus_service = storage.serving(lambda reason: None).bus_service
    names: Sequence[str] = json.loads(sys.stdin.readline())
    # The storage uses its connections of the reactor when that runs.
    await deferLater(reactor, 0)
    bus_service.startService()
    run = operation(storage, name)
    # Connections are opened, and statements are prepared.
    await run(names[-1])
    print("ready", flush=True)
    await runtime.offload(sys.stdin.readline)
    order = iter(names) if name == "find" else cycle(names)
    outcome = await measure(run, order, int(callers), float(seconds))
    await maybeDeferred(bus_service.stopService)
    runtime.stop()
    storage.close()
    print(json.dumps(asdict(outcome)), flush=True)


if __name__ == "__main__":
    react(lambda *args: Deferred.fromCoroutine(main(*args)), sys.argv[1:])
