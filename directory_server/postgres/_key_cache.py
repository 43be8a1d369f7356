"""The cache of look-ups of keys on PostgreSQL."""

from __future__ import annotations

from ..domain.keys import CACHED, ApiKey, newest_half
from ..tables import FIND_KEY, found_key
from ._link import Statements
from ._pulse import Pulse
from ._tables import numbered


class PostgresKeyCache:
    """A KeyCache of look-ups, by `statements`, until the `pulse` says that the key may have ended.

    A revoked key ends at once in this process, and within a second in others.
    """

    def __init__(self, statements: Statements, pulse: Pulse) -> None:
        self._statements = statements
        self._pulse = pulse
        self._known: dict[bytes, tuple[ApiKey, float, int]] = {}
        self._generation = 0

    def get(self, given: bytes, now: float) -> ApiKey | None:
        if not self._pulse.is_fresh or self._pulse.generation != self._generation:
            return None
        key, end, counter = self._known.get(given, (None, 0.0, 0))
        is_valid = key is not None and now < end and self._pulse.ended.get(key.id, counter) <= counter
        return key if is_valid else None

    def __contains__(self, given: bytes) -> bool:
        return given in self._known

    async def look_up(self, given: bytes, now: float) -> ApiKey | None:
        reading = self._pulse.begin()
        statement, parameters = numbered(FIND_KEY, {"digest": given, "now": now})
        rows = await self._statements.run(statement, *parameters)
        if not rows:
            return None
        key, end, counter = found_key(rows[0])
        if self._pulse.confirm(reading, counter, is_poll=False):
            self._keep(given, key, end, counter)
        return key

    def _keep(self, given: bytes, key: ApiKey, end: float, counter: int) -> None:
        if self._pulse.generation != self._generation:
            self._known, self._generation = {}, self._pulse.generation
        elif len(self._known) >= CACHED:
            self._known = newest_half(self._known)
        self._known[given] = key, end, counter
