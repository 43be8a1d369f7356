"""Values that are computed once, when they are first needed, by one thread."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")


@define(eq=False)
class Lazy(Generic[T]):
    """A function without arguments that calls `compute` at its first call, and returns that value at every call.

    Other threads wait for the first call. With functools.cache each of them would call `compute`.
    """

    _compute: Callable[[], T]
    _lock: Lock = field(factory=Lock, init=False)
    _computed: list[T] = field(factory=list, init=False)

    @property
    def is_computed(self) -> bool:
        """Return whether a call returns at once."""
        return bool(self._computed)

    def __call__(self) -> T:
        if not self._computed:
            with self._lock:
                if not self._computed:
                    self._computed.append(self._compute())
        return self._computed[0]
