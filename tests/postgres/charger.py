"""A program that charges keys until all are used up: python -m tests.postgres.charger CONNINFO KEYS LIMIT CALLERS.

It prints a line after each 100 acknowledged charges, and at the end the acknowledged charges of each key and the number
of charges that failed.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import deferLater, react

from directory_server.domain.errors import QuotaExceeded, Unavailable
from directory_server.postgres import Database, PostgresQuota, Session
from directory_server.runtime.threads import Offload


class Charger:
    """Charges `keys` in turn until each is used up."""

    def __init__(self, quota: PostgresQuota, reactor: Any, keys: int, limit: int) -> None:
        self.quota = quota
        self.reactor = reactor
        self.limit = limit
        self.left = [f"key-{number}" for number in range(keys)]
        self.acknowledged: Counter[str] = Counter()
        self.failed = 0

    async def call(self, number: int) -> None:
        """Charge one key after the other."""
        while self.left:
            number += 1
            key_id = self.left[number % len(self.left)]
            try:
                await self.quota.charge(key_id, self.limit)
            except QuotaExceeded:
                if key_id in self.left:
                    self.left.remove(key_id)
            except Unavailable:
                self.failed += 1
                await deferLater(self.reactor, 0.05)
            else:
                self.acknowledged[key_id] += 1
                if self.acknowledged.total() % 100 == 0:
                    print("100", flush=True)


async def main(reactor: Any, conninfo: str, keys: str, limit: str, callers: str) -> None:
    """Charge with `callers` callers."""
    # The session is used when the reactor runs.
    await deferLater(reactor, 0)
    offload = Offload(reactor)
    session = Session(Database(conninfo, offload), reactor)
    session.startService()
    charger = Charger(PostgresQuota(session), reactor, int(keys), int(limit))
    await gatherResults([Deferred.fromCoroutine(charger.call(number)) for number in range(int(callers))])
    session.stopService()
    for key_id, count in charger.acknowledged.items():
        print(key_id, count)
    print("failed", charger.failed, flush=True)


if __name__ == "__main__":
    react(lambda reactor, *args: Deferred.fromCoroutine(main(reactor, *args)), sys.argv[1:])
