"""A process with the storage of a server, without HTTP, that repeats charges.

    python -m bench.servers.storage_operations CALLERS SECONDS

The configuration comes from the environment. The first line of the standard input is a JSON list of ids of keys. The
process prints a line when it is ready, begins after the second line of the input, and prints the result as JSON. It
ends after SECONDS.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from itertools import cycle
from typing import Any

from attrs import asdict, frozen
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred, gatherResults, maybeDeferred
from twisted.internet.task import deferLater, react

from directory_server.composition import machine_runtime
from directory_server.config import load
from directory_server.domain.ports.access import Quota
from directory_server.features import sections
from directory_server.storage import open_storage

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


async def measure(quota: Quota, key_ids: Sequence[str], callers: int, seconds: float) -> Operations:
    """Charge the keys in turn, with `callers` concurrent callers."""
    order = cycle(key_ids)
    took: list[float] = []
    began, cpu = time.perf_counter(), time.process_time()
    end = began + seconds

    async def call() -> None:
        while (start := time.perf_counter()) < end:
            await quota.charge(next(order), LIMIT)
            took.append(time.perf_counter() - start)

    await gatherResults([Deferred.fromCoroutine(call()) for _ in range(callers)], consumeErrors=True)
    elapsed, used = time.perf_counter() - began, time.process_time() - cpu
    took.sort()
    return Operations(len(took), elapsed, used, took[len(took) // 2] * 1e3, took[len(took) * 99 // 100] * 1e3)


async def main(_: Any, callers: str, seconds: str) -> None:
    """Open the storage, wait for the begin, and print the result."""
    runtime = machine_runtime(reactor)
    config = load(file=None, environ=os.environ, settings=[], sections=sections())
    storage = open_storage(config, runtime)
    bus_service = storage.control.serving().bus_service
    key_ids: Sequence[str] = json.loads(sys.stdin.readline())
    # The storage uses its connections of the reactor when that runs.
    await deferLater(reactor, 0)
    bus_service.startService()
    # Connections are opened, and statements are prepared.
    await storage.people.quota.charge(key_ids[-1], LIMIT)
    print("ready", flush=True)
    await runtime.offload(sys.stdin.readline)
    outcome = await measure(storage.people.quota, key_ids, int(callers), float(seconds))
    await maybeDeferred(bus_service.stopService)
    runtime.stop()
    storage.close()
    print(json.dumps(asdict(outcome)), flush=True)


if __name__ == "__main__":
    react(lambda *args: Deferred.fromCoroutine(main(*args)), sys.argv[1:])
