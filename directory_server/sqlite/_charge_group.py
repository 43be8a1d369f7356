"""Group commit of a reactor turn: its charges are one transaction, and their responses wait for the commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ..domain.errors import QuotaExceeded, Unavailable
from ..domain.ports.runtime import Turn
from ..domain.quota import Allowance
from ._connection import is_busy
from ._database import Database
from ._transactions import TransactionQueue
from ._windows import Charge, Windows


class ChargeGroup:
    """Charges on the reactor's thread: one by one, or those of a turn in one transaction.

    A commit costs more than a charge, so charges that come together are committed together at the end of the turn. A
    charge that comes alone must not wait for the end of its turn. Whether others follow is not known, so a charge waits
    if it is not the first of its turn, or if the last turn had more than one.

    No charge waits for a lock: if the file is locked, its queue gets the charge. `written` is called with the number of
    charges after each commit.
    """

    def __init__(self, database: Database, windows: Windows, turn: Turn, written: Callable[[int], None]) -> None:
        self._database = database
        self._windows = windows
        self._turn = turn
        self._written = written
        self._waiting: list[tuple[Charge, Deferred[Allowance]]] = []
        self._count = 0
        self._is_grouping = False

    async def charge(self, charge: Charge, queue: TransactionQueue) -> Allowance:
        """Spend one request and return once it is committed. Raises QuotaExceeded and Unavailable."""
        self._count += 1
        together = self._is_grouping or self._count > 1
        if self._count == 1:
            self._turn.at_end(self._end_turn)
        if together:
            waiting: Deferred[Allowance] = Deferred()
            self._waiting.append((charge, waiting))
            return await waiting
        try:
            (outcome,) = self._commit([charge])
        except Unavailable as error:
            if not is_busy(error):
                raise
            return await self._submit(charge, queue)
        if isinstance(outcome, QuotaExceeded):
            raise outcome
        return outcome

    def _end_turn(self) -> None:
        self._is_grouping, self._count = self._count > 1, 0
        # A charge whose caller has given up is not spent.
        waiting = [(charge, deferred) for charge, deferred in self._waiting if not deferred.called]
        self._waiting.clear()
        if waiting:
            self._commit_group(waiting)

    def _commit_group(self, waiting: Sequence[tuple[Charge, Deferred[Allowance]]]) -> None:
        queue = self._database.queue
        assert queue is not None
        try:
            outcomes = None if queue.is_busy else self._commit([charge for charge, _ in waiting])
        except Unavailable as error:
            if not is_busy(error):
                _fail(waiting, Failure())
                return
            outcomes = None
        except Exception:
            _fail(waiting, Failure())
            return
        if outcomes is None:
            for charge, deferred in waiting:
                self._delegate(charge, deferred, queue)
            return
        for (_, deferred), outcome in zip(waiting, outcomes, strict=True):
            deferred.callback(Failure(outcome) if isinstance(outcome, QuotaExceeded) else outcome)

    def _commit(self, charges: Sequence[Charge]) -> list[Allowance | QuotaExceeded]:
        with self._database.transaction(wait=0) as connection:
            spending = self._windows.remembering(connection)
            outcomes = spending.spend(charges)
        spending.committed()
        self._written(len(charges))
        return outcomes

    async def _submit(self, charge: Charge, queue: TransactionQueue) -> Allowance:
        allowance = await queue.submit(partial(self._windows.spend, charge=charge))
        self._written(1)
        return allowance

    def _delegate(self, charge: Charge, deferred: Deferred[Allowance], queue: TransactionQueue) -> None:
        """Pass a charge to the queue, and its outcome to `deferred`."""
        Deferred.fromCoroutine(self._submit(charge, queue)).chainDeferred(deferred)


def _fail(waiting: Sequence[tuple[Charge, Deferred[Allowance]]], failure: Failure) -> None:
    for _, deferred in waiting:
        deferred.errback(failure)
