"""Values that are made once, by one thread."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")


@define(eq=False)
class Once(Generic[T]):
    """A function without arguments that calls `make` at its first call, and returns that value at every call.

    Other threads wait for the first call. With functools.cache each of them would call `make`.
    """

    _make: Callable[[], T]
    _lock: Lock = field(factory=Lock, init=False)
    _made: list[T] = field(factory=list, init=False)

    @property
    def is_made(self) -> bool:
        """Return whether a call returns at once."""
        return bool(self._made)

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]
