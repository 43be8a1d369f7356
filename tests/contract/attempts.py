"""Contract of Attempts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from directory_server.domain.errors import Throttled
from directory_server.domain.ports.access import Attempts
from directory_server.domain.throttling import AttemptLimit

from . import ContractWithClock, at_once, awaited

LIMIT = AttemptLimit("address", rate=0.5, burst=3)


class AttemptsContract(ContractWithClock):
    """Subclasses define how to open attempts; `at_once` runs coroutines together, in the threads of the adapter."""

    at_once = staticmethod(at_once)

    async def attempts(self, now: Callable[[], float]) -> Attempts:
        """Return the attempts; each call acts as another process that counts together with the others."""
        raise NotImplementedError

    async def open(self) -> Attempts:
        return await self.attempts(self.clock.seconds)

    @awaited
    async def test_a_client_has_a_burst_and_an_average_rate(self) -> None:
        attempts = await self.open()
        for _ in range(3):
            await attempts.charge(LIMIT, "one")
        for _ in range(2):
            # A rejected attempt does not count.
            with pytest.raises(Throttled) as error:
                await attempts.charge(LIMIT, "one")
            assert error.value.retry_after == 2
        self.clock.advance(1.5)
        with pytest.raises(Throttled) as error:
            await attempts.charge(LIMIT, "one")
        assert error.value.retry_after == 1
        self.clock.advance(0.5)
        await attempts.charge(LIMIT, "one")
        with pytest.raises(Throttled):
            await attempts.charge(LIMIT, "one")

    @awaited
    async def test_a_client_that_paused_has_the_same_burst_again(self) -> None:
        attempts = await self.open()
        for _ in range(3):
            await attempts.charge(LIMIT, "one")
        self.clock.advance(3600)
        for _ in range(3):
            await attempts.charge(LIMIT, "one")
        with pytest.raises(Throttled):
            await attempts.charge(LIMIT, "one")

    @awaited
    async def test_clients_and_limits_count_separately(self) -> None:
        attempts = await self.open()
        other = AttemptLimit("account", rate=0.5, burst=1)
        for client in ("one", "two", "", "\0", "\udc80", "x" * 10_000):
            for _ in range(3):
                await attempts.charge(LIMIT, client)
            with pytest.raises(Throttled):
                await attempts.charge(LIMIT, client)
            await attempts.charge(other, client)
            with pytest.raises(Throttled):
                await attempts.charge(other, client)

    @awaited
    async def test_of_attempts_at_once_a_burst_is_admitted(self) -> None:
        processes = [await self.open() for _ in range(6)]

        async def try_one(attempts: Attempts) -> bool:
            try:
                await attempts.charge(LIMIT, "one")
            except Throttled:
                return False
            return True

        assert sum(await self.at_once(*(try_one(each) for each in processes))) == 3
