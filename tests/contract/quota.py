"""Contract of Quota."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from directory_server.domain.errors import QuotaExceeded
from directory_server.domain.ports.access import Quota
from directory_server.domain.quota import Allowance

from . import ContractWithClock, awaited


async def exceeded(quota: Quota, key_id: str, limit: int) -> Allowance:
    with pytest.raises(QuotaExceeded) as caught:
        await quota.charge(key_id, limit)
    return caught.value.allowance


class QuotaContract(ContractWithClock):
    """Subclasses define how to open a quota."""

    async def quota(self, wall: Callable[[], float], uptime: Callable[[], float]) -> Quota:
        """Return a quota; each call acts as another process with the same data, started now.

        `wall` is the system time of the process; `uptime` is the uptime of the machine.
        """
        raise NotImplementedError

    async def open(self, ahead: float = 0.0) -> Quota:
        """Return the quota of a process that starts now, with a system time `ahead` of the test's clock."""
        return await self.quota(lambda: self.clock.seconds() + ahead, lambda: self.clock.seconds() - 999_000)

    @awaited
    async def test_counts_down_and_then_raises(self) -> None:
        quota = await self.open()
        left = [await quota.charge("k", 3) for _ in range(3)]
        assert left == [Allowance(3, remaining, 3600) for remaining in (2, 1, 0)]
        assert await exceeded(quota, "k", 3) == Allowance(3, 0, 3600)

    @awaited
    async def test_returns_a_request_when_it_is_an_hour_old_and_not_before(self) -> None:
        quota = await self.open()
        await quota.charge("k", 2)
        self.clock.advance(1000)
        await quota.charge("k", 2)
        self.clock.advance(2599)
        assert (await exceeded(quota, "k", 2)).reset == 1
        self.clock.advance(1)
        assert await quota.charge("k", 2) == Allowance(2, 0, 1000)
        assert (await exceeded(quota, "k", 2)).reset == 1000

    @awaited
    async def test_rounds_up_so_that_waiting_that_long_is_enough(self) -> None:
        quota = await self.open()
        await quota.charge("k", 1)
        self.clock.advance(10.25)
        allowance = await exceeded(quota, "k", 1)
        assert allowance.reset == 3590
        self.clock.advance(allowance.reset)
        await quota.charge("k", 1)

    @awaited
    async def test_does_not_record_rejected_requests(self) -> None:
        quota = await self.open()
        await quota.charge("k", 1)
        self.clock.advance(1800)
        for _ in range(5):
            await exceeded(quota, "k", 1)
        self.clock.advance(1800)
        await quota.charge("k", 1)

    @awaited
    async def test_peek_spends_nothing(self) -> None:
        quota = await self.open()
        assert await quota.peek("k", 2) == Allowance(2, 2, 0)
        await quota.charge("k", 2)
        self.clock.advance(0.5)
        assert await quota.peek("k", 2) == await quota.peek("k", 2) == Allowance(2, 1, 3600)
        await quota.charge("k", 2)
        assert await quota.peek("k", 2) == Allowance(2, 0, 3600)
        self.clock.advance(3600)
        assert await quota.peek("k", 2) == Allowance(2, 2, 0)

    @awaited
    async def test_counts_each_key_separately(self) -> None:
        quota = await self.open()
        await quota.charge("k", 1)
        await exceeded(quota, "k", 1)
        assert await quota.charge("l", 1) == Allowance(1, 0, 3600)

    @awaited
    async def test_records_nothing_for_an_unlimited_key(self) -> None:
        quota = await self.open()
        for _ in range(3):
            assert await quota.charge("k", None) == Allowance(None, None, 0)
        assert await quota.peek("k", None) == Allowance(None, None, 0)
        assert await quota.peek("k", 5) == Allowance(5, 5, 0)

    @awaited
    async def test_reports_the_reset_after_a_lowered_limit(self) -> None:
        quota = await self.open()
        for _ in range(5):
            await quota.charge("k", 5)
            self.clock.advance(100)
        # Spent 500, 400, 300, 200 and 100 seconds ago. With a limit of 2, the one of 200 seconds ago must expire first.
        assert await exceeded(quota, "k", 2) == Allowance(2, 0, 3400)
        assert await quota.peek("k", 2) == Allowance(2, 0, 3400)
        self.clock.advance(3399)
        await exceeded(quota, "k", 2)
        self.clock.advance(1)
        assert (await quota.charge("k", 2)).remaining == 0

    @awaited
    async def test_is_one_quota_for_all_processes(self) -> None:
        one, other = await self.open(), await self.open()
        assert [(await quota.charge("k", 4)).remaining for quota in (one, other, one, other)] == [3, 2, 1, 0]
        for quota in (one, other):
            await exceeded(quota, "k", 4)

    @awaited
    async def test_is_one_quota_for_processes_with_system_times_hours_apart(self) -> None:
        processes = [await self.open(ahead) for ahead in (0.0, 7200.0, -7200.0)]
        for quota in processes:
            await quota.charge("k", 3)
        for quota in processes:
            assert (await exceeded(quota, "k", 3)).reset == 3600
        self.clock.advance(3599)
        for quota in processes:
            assert (await exceeded(quota, "k", 3)).reset == 1
        self.clock.advance(1)
        assert [(await quota.charge("k", 3)).remaining for quota in processes] == [2, 1, 0]

    @awaited
    async def test_prune_keeps_what_another_process_counts(self) -> None:
        quota, ahead = await self.open(), await self.open(ahead=3700.0)
        for _ in range(3):
            await quota.charge("k", 3)
        self.clock.advance(3599)
        await ahead.prune()
        await exceeded(quota, "k", 3)
        self.clock.advance(1)
        await ahead.prune()
        await quota.charge("k", 3)

    @awaited
    async def test_returns_nothing_when_the_system_time_is_set_between_two_starts(self) -> None:
        await (await self.open()).charge("k", 1)
        for ahead in (7200.0, -7200.0):
            self.clock.advance(600)
            await exceeded(await self.open(ahead), "k", 1)
        self.clock.advance(2399)
        assert (await exceeded(await self.open(ahead=86_400.0), "k", 1)).reset == 1
        self.clock.advance(1)
        await (await self.open(ahead=86_400.0)).charge("k", 1)

    @awaited
    async def test_returns_when_a_key_last_spent_a_request(self) -> None:
        quota = await self.open()
        assert await quota.last("k") is None
        await quota.charge("k", 2)
        self.clock.advance(100)
        await quota.charge("k", 2)
        self.clock.advance(100)
        await exceeded(quota, "k", 2)
        await quota.peek("k", 2)
        assert await quota.last("k") == 1_000_100.0
        assert await quota.last("another") is None
