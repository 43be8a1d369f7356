"""The cache of look-ups of keys on SQLite."""

from __future__ import annotations

import sqlite3
from functools import partial

from ..domain.keys import CACHED, ApiKey, newest_half
from ..domain.ports.runtime import Turn
from ..tables import FIND_KEY, found_key
from ._database import Database, data_version
from ._tables import SqliteRows

_Keys = dict[bytes, tuple[ApiKey, float]]
"""Keys by the digests of their secrets, each with the time when the key or the secret ends."""

# Triggers count the writes that change or end a key.
_PULSE = "SELECT keys FROM pulse"


class SqliteKeyCache:
    """A KeyCache of look-ups in the data directory, until any process changes or ends a key.

    So a key that is revoked in one process is rejected by all. Whether another process has done so is checked once in
    each `turn` of the reactor.
    """

    def __init__(self, database: Database, turn: Turn) -> None:
        self._database = database
        self._turn = turn
        self._checked: _Keys | None = None
        """The keys that were valid when a look-up of the current turn read the database; None before that."""
        # One tuple, replaced as a whole, because two threads may look up keys at the same time.
        self._known: tuple[object, int, _Keys] = None, -1, {}

    def get(self, given: bytes, now: float) -> ApiKey | None:
        key, end = (None, 0.0) if self._checked is None else self._checked.get(given, (None, 0.0))
        return key if now < end else None

    def __contains__(self, given: bytes) -> bool:
        return given in self._known[2]

    async def look_up(self, given: bytes, now: float) -> ApiKey | None:
        # The function may run in another thread, which has another connection.
        key = await self._database.read(partial(self._find, given, now, self._checked))
        is_first = self._checked is None
        self._checked = self._known[2]
        if is_first:
            self._turn.at_end(self._forget_checked)
        return key

    def _find(self, given: bytes, now: float, checked: _Keys | None, connection: sqlite3.Connection) -> ApiKey | None:
        # Keys that were checked in this turn are checked again in the next one, and with them those that are added.
        cached = self._current(connection) if checked is None else checked
        key, end = cached.get(given, (None, 0.0))
        if now < end:
            return key
        row = SqliteRows(connection).one(FIND_KEY, digest=given, now=now)
        if row is None:
            return None
        key, end, _ = found_key(row)
        cached[given] = key, end
        return key

    def _current(self, connection: sqlite3.Connection) -> _Keys:
        """Return the cached keys; none if this or any other connection has changed or ended a key since."""
        # data_version counts the writes of other connections, and is comparable only within one connection. It is read
        # before the counter: a write between the two is noticed by the next look-up.
        version = connection, data_version(connection), connection.total_changes
        known_version, known_pulse, keys = self._known
        if version != known_version or len(keys) > CACHED:
            (pulse,) = connection.execute(_PULSE).fetchone()
            if pulse != known_pulse:
                keys = {}
            elif len(keys) > CACHED:
                keys = newest_half(keys)
            self._known = version, pulse, keys
        return keys

    def _forget_checked(self) -> None:
        self._checked = None
