"""Contract of Bus."""

from __future__ import annotations

from twisted.logger import LogEvent

from directory_server.domain.ports.runtime import Bus

from . import awaited


def fail() -> None:
    raise ZeroDivisionError


class BusContract:
    """Subclasses define how to open a bus, write in another process and advance the time by a second."""

    async def bus(self) -> Bus:
        """Return a running bus that has seen all earlier writes."""
        raise NotImplementedError

    async def write(self) -> None:
        """Change an entry or a key in another process."""
        raise NotImplementedError

    async def wait_a_second(self) -> None:
        """Advance the time by one second."""
        raise NotImplementedError

    @awaited
    async def test_an_announcement_wakes_every_listener_at_once(self) -> None:
        bus = await self.bus()
        woken: list[str] = []
        bus.subscribe(lambda: woken.append("one"))
        bus.subscribe(lambda: woken.append("other"))
        bus.announce()
        assert woken == ["one", "other"]

    @awaited
    async def test_a_write_of_another_process_wakes_within_a_second(self) -> None:
        bus = await self.bus()
        woken: list[None] = []
        bus.subscribe(lambda: woken.append(None))
        for times in (1, 2):
            await self.write()
            await self.wait_a_second()
            assert len(woken) == times

    @awaited
    async def test_wakes_no_listener_without_a_change(self) -> None:
        bus = await self.bus()
        woken: list[None] = []
        bus.subscribe(lambda: woken.append(None))
        await self.wait_a_second()
        await self.wait_a_second()
        assert woken == []

    @awaited
    async def test_wakes_the_others_when_a_listener_fails(self, logged_failures: list[LogEvent]) -> None:
        bus = await self.bus()
        woken: list[None] = []
        bus.subscribe(fail)
        bus.subscribe(lambda: woken.append(None))
        bus.announce()
        await self.write()
        await self.wait_a_second()
        assert len(woken) == 2
        assert [event["log_failure"].type for event in logged_failures] == [ZeroDivisionError, ZeroDivisionError]
        logged_failures.clear()
