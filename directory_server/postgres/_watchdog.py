"""A bound on the waiting for a stopped database in commands and at the start of a server, where no reactor runs."""

from __future__ import annotations

import threading

import psycopg

from ._database import Database

PROBE = 3.0
"""Seconds between two looks whether a transaction runs, which is then probed."""

PROBES = 2
"""Consecutive probes without an answer, of CONNECT_TIMEOUT seconds each, after which the transactions end."""


class Watchdog:
    """Ends the transactions of `database` when it does not answer while they run, after about ten seconds.

    A stopped server keeps its connections open, and no time-out of libpq ends the waiting for an answer. A statement
    may take long, such as a migration, so its duration shows nothing: a new connection that gets no answer does.
    """

    def __init__(self, database: Database, interval: float = PROBE) -> None:
        self._database = database
        self._interval = interval
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="database watchdog")

    def start(self) -> None:
        """Begin to watch, in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; a running probe ends by itself."""
        self._stopped.set()

    def _watch(self) -> None:
        silent = 0
        while not self._stopped.wait(self._interval):
            silent = silent + 1 if self._database.is_busy and self._is_silent() else 0
            if silent >= PROBES:
                silent = 0
                self._database.interrupt()

    def _is_silent(self) -> bool:
        try:
            psycopg.connect(**self._database.parameters).close()
        except psycopg.errors.ConnectionTimeout:
            return True
        except psycopg.Error:
            # An error is an answer, such as one about too many connections.
            return False
        return False
