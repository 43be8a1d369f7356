"""Ports of the runtime: clocks, wake-ups, threads and reactor turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ParamSpec, Protocol, TypeVar

from attrs import frozen

P = ParamSpec("P")


T = TypeVar("T")


@frozen
class MachineTime:
    """The clocks of a machine.

    `wall` is the system time in seconds since the epoch. `uptime` is the seconds since boot, monotonic and the same in
    every process. `boot` is the id of this boot, "" if the system has none.
    """

    wall: Callable[[], float]
    uptime: Callable[[], float]
    boot: str


class Bus(Protocol):
    """Wakes listeners after changes. A lost wake-up delays changes, but loses none."""

    def announce(self) -> None:
        """Wake the listeners of this process now, and those of other processes within a second."""

    def subscribe(self, wake: Callable[[], None]) -> None:
        """Call `wake` after every change of entries or keys, by any process."""


class Offload(Protocol):
    """Runs a blocking function without blocking the reactor."""

    def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Return the result of `function`, or raise its exception."""


class Pace(Protocol):
    """Spreads work over turns of the reactor, so that other requests are handled in between."""

    def __call__(self, *, begun: bool = False) -> Awaitable[None] | None:
        """Return None if work may begin now, else what to await before it. Only for the reactor's thread.

        The next part of work that has `begun` waits too, but before work that has not.
        """


class Turn(Protocol):
    """A turn of the reactor: the calls between two waits for events. Only for the reactor's thread."""

    def at_end(self, step: Callable[[], None], /) -> None:
        """Call `step` once at the end of the current turn. An exception of a step is logged."""
