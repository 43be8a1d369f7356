"""A program that publishes entries until its input ends: python -m tests.cluster.publisher NAME PAUSE.

The database is that of the environment. Each line of the output has the names of an acknowledged batch. While the
database is away, the batch is tried again.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import closing
from itertools import count
from time import sleep

from directory_server.config import load
from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.runtime.run_sync import run_sync
from directory_server.storage import command_environment, open_storage

BATCH = 5
"""Entries of a batch."""


def main(name: str, pause: float) -> None:
    """Publish batches, with `pause` seconds between two."""
    ended = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    with closing(open_storage(load(file=None, environ=os.environ, settings=[]), command_environment())) as storage:
        for batch in count():
            names = [f"{name}/{batch}-{number}" for number in range(BATCH)]
            entries = [Entry({"name": each, "version": "1.0.0", "description": "It rains."}) for each in names]
            while True:
                if ended.is_set():
                    return
                try:
                    run_sync(storage.store.publish("a", entries))
                    break
                except Unavailable:
                    sleep(0.05)
            print(*names, flush=True)
            ended.wait(pause)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
