"""The time over which an announcement is delivered: it grows with the number of streams."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import define, field
from twisted.internet.task import Clock

from directory_server.domain.changes import Change
from directory_server.runtime.run_sync import run_sync
from directory_server.web.mcp import Announcements


@define(eq=False)
class Group:
    """A channel of `size` streams: `sent` has the time of each event, and the seconds over which it was spread."""

    clock: Clock
    size: int
    sent: list[tuple[float, float]] = field(factory=list)

    def __len__(self) -> int:
        return self.size

    def send(self, event: bytes, *, over: float) -> None:
        self.sent.append((self.clock.seconds(), over))


class Streams:
    """A hub of streams without a subscription, and of those of one subscription; and their announcements."""

    def __init__(self, *sizes: int, delay: float = 0.0) -> None:
        self.clock = Clock()
        groups = [Group(self.clock, size) for size in sizes]
        left = iter(groups)
        hub: Any = type("Hub", (), {"channel": lambda _: next(left)})()
        self.groups = groups
        self.announcements = Announcements(hub, self.clock, delay)
        for number in range(len(sizes)):
            self.announcements.channel(number or None)

    def change(self) -> None:
        run_sync(self.announcements.apply([Change(1, "added", "id", None, None)]))


@pytest.mark.parametrize(
    ("streams", "seconds"),
    [(1, 10.0), (4_000, 10.0), (8_000, 20.0), (20_000, 50.0), (100_000, 250.0)],
)
def test_an_announcement_takes_longer_for_more_streams(streams: int, seconds: float) -> None:
    process = Streams(streams)
    process.change()
    process.clock.advance(0)
    assert process.groups[0].sent == [(0.0, seconds)]


def test_a_change_is_announced_when_other_machines_have_it() -> None:
    process = Streams(1, delay=0.5)
    process.change()
    process.clock.advance(0.4)
    assert process.groups[0].sent == []
    process.change()
    process.clock.advance(0.1)
    assert process.groups[0].sent == [(0.5, 10.0)]


def test_channels_follow_each_other_at_the_same_rate() -> None:
    process = Streams(20_000, 4_000)
    process.change()
    process.clock.pump([0.0, 50.0])
    # 400 streams a second.
    assert [group.sent for group in process.groups] == [[(0.0, 50.0)], [(50.0, 10.0)]]


@pytest.mark.parametrize(("streams", "interval"), [(0, 60.0), (20_000, 60.0), (100_000, 250.0)])
def test_the_next_announcement_begins_after_the_delivery(streams: int, interval: float) -> None:
    process = Streams(streams)
    process.change()
    process.clock.advance(0)
    process.change()
    process.clock.advance(interval - 1)
    assert len(process.groups[0].sent) == 1
    process.clock.advance(1)
    assert [began for began, _ in process.groups[0].sent] == [0.0, interval]
