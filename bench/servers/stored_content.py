"""The keys of a storage, and the times of publishing entries."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from random import Random

from directory_server.domain.entries import Entry
from directory_server.runtime.run_sync import run_sync
from directory_server.storage import Storage


def key_ids(storage: Storage) -> Sequence[str]:
    """Return the ids of all keys."""
    return [key.id for key in run_sync(storage.people.keys.list())]


def publish_times(storage: Storage, count: int) -> Mapping[str, tuple[float, float]]:
    """Publish `count` entries one by one, with pauses; return the begin and the end of each call.

    Times are in seconds of the monotonic clock.
    """
    random, found = Random(1), {}
    for number in range(count):
        name = f"bench.example/{time.monotonic_ns()}-{number}"
        entry = Entry({"name": name, "version": "1.0.0", "description": "A server that a benchmark publishes."})
        began = time.monotonic()
        run_sync(storage.store.publish("bench", [entry]))
        found[name] = began, time.monotonic()
        time.sleep(random.uniform(0.05, 0.15))
    return found
