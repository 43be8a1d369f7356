"""Ports of the runtime: wake-ups and threads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")


T = TypeVar("T")


class Bus(Protocol):
    """Wakes whoever listens when something changed; a lost wake-up costs latency, never an event."""

    def announce(self) -> None:
        """Wake the listeners of this process now; those of others hear within a second."""

    def subscribe(self, wake: Callable[[], None]) -> None:
        """Call `wake` after every change of entries or keys, by whatever process."""


class Offload(Protocol):
    """Runs a blocking function where it holds nobody up."""

    def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Return what `function` returns, or raise what it raises, once it has run."""
