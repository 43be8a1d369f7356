"""The Quota on PostgreSQL: a sliding log by the clock of the database, exact over all machines."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ..domain.errors import QuotaExceeded
from ..domain.quota import Allowance
from ._availability import Proof
from ._statements import Row, Statements

BATCH = 64
"""Most charges of a transaction. Each holds a lock, of which PostgreSQL has 64 per connection by default."""

PRUNED = 1_000
"""Keys whose rows `prune` deletes in one transaction."""

_CHARGE = "SELECT admitted, units, back FROM charge_1($1::text[], $2::bigint[], $3::float8, $4::float8)"

TRIAL: tuple[str, Sequence[object]] = _CHARGE, ([""], [1], 0.0, None)
"""A charge to no key, in a window without length. It can be repeated, and keeps a few rows."""

_PEEK = "SELECT units, back FROM peek_1($1::text, $2::bigint, $3::float8, $4::float8)"

_LAST = "SELECT at FROM spent WHERE key = $1::text ORDER BY at DESC, n DESC LIMIT 1"

_PRUNE = "SELECT prune_1($1::text, $2::integer, $3::float8, $4::float8)"


@frozen
class _Charge:
    key_id: str
    limit: int
    done: Deferred[Allowance]


class PostgresQuota:
    """Requests spent by keys, in the database that `statements` go to; `window` is in seconds.

    Charges that arrive while a transaction is under way go together in the next one. `pruning` runs the statements that
    delete rows, by default `statements`. `now` replaces the clock of the
    database, in seconds since the epoch, for tests.
    """

    _log = Logger()

    def __init__(
        self,
        statements: Statements,
        window: int = 3600,
        now: Callable[[], float] | None = None,
        pruning: Statements | None = None,
    ) -> None:
        self._statements = statements
        self._pruning = pruning or statements
        self._window = window
        self._now = now
        self._waiting: deque[_Charge] = deque()
        self._is_charging = False
        self._pruned_to = ""

    async def charge(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        done: Deferred[Allowance] = Deferred()
        self._waiting.append(_Charge(key_id, limit, done))
        if not self._is_charging:
            Deferred.fromCoroutine(self._charge_waiting()).addErrback(
                lambda failure: self._log.failure("Charges could not be written", failure=failure)
            )
        return await done

    async def peek(self, key_id: str, limit: int | None) -> Allowance:
        if limit is None:
            return Allowance(None, None, 0, self._window)
        # It reads the table of charges, and fails at once with them.
        [(units, back)] = await self._statements.run(
            _PEEK, key_id, limit, float(self._window), self._given(), shows=Proof.CHARGE, wrote=lambda rows: False
        )
        return self._allowance(limit, units, back or 0.0)

    async def last(self, key_id: str) -> float | None:
        rows = await self._statements.run(_LAST, key_id)
        return float(rows[0][0]) if rows else None

    async def prune(self) -> None:
        """Delete rows from before the window, of PRUNED keys at a time. Raises Unavailable.

        The newest row of each key stays for `last`. One process prunes at a time.
        """
        await self._prune()
        while self._pruned_to:
            await self._prune()

    async def _prune(self) -> None:
        [(self._pruned_to,)] = await self._pruning.run(
            _PRUNE, self._pruned_to, PRUNED, float(self._window), self._given()
        )

    async def _charge_waiting(self) -> None:
        self._is_charging = True
        try:
            while self._waiting:
                await self._charge_batch(self._next_batch())
        finally:
            self._is_charging = False

    def _next_batch(self) -> Sequence[_Charge]:
        batch: list[_Charge] = []
        while self._waiting and len(batch) < BATCH:
            charge = self._waiting.popleft()
            # The caller of a cancelled charge has gone.
            if not charge.done.called:
                batch.append(charge)
        # All processes lock keys in the same order, so no transaction waits for one that waits for it.
        return sorted(batch, key=lambda charge: charge.key_id)

    async def _charge_batch(self, batch: Sequence[_Charge]) -> None:
        if not batch:
            return
        try:
            rows = await self._statements.run(
                _CHARGE,
                [charge.key_id for charge in batch],
                [charge.limit for charge in batch],
                float(self._window),
                self._given(),
                shows=Proof.CHARGE,
                wrote=_admitted,
            )
        except Exception:
            failure = Failure()
            for charge in batch:
                charge.done.errback(failure)
            return
        for charge, row in zip(batch, rows, strict=True):
            self._answer(charge, *row)

    def _answer(self, charge: _Charge, admitted: bool, units: int, back: float) -> None:
        allowance = self._allowance(charge.limit, units, back)
        if admitted:
            charge.done.callback(allowance)
        else:
            charge.done.errback(Failure(QuotaExceeded(allowance)))

    def _allowance(self, limit: int, units: int, back: float) -> Allowance:
        return Allowance(limit, max(limit - units, 0), math.ceil(back) if units else 0, self._window)

    def _given(self) -> Any:
        return None if self._now is None else self._now()


def _admitted(rows: Sequence[Row]) -> bool:
    """Return whether one of the charges was admitted: a rejected charge writes nothing."""
    return any(admitted for admitted, _, _ in rows)
