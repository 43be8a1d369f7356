"""Points: what a server takes from features. Each is declared beside the part of the server that uses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from attrs import define, field, frozen

T = TypeVar("T")


@frozen(eq=False)
class Point(Generic[T]):
    """What each feature may add to a server."""


@frozen(eq=False)
class Single(Generic[T]):
    """What one feature may set in a server, which has the `default` without it."""

    default: T


@define(eq=False)
class Points:
    """What features have added, in the order of the features."""

    _added: dict[Point[Any], list[Any]] = field(factory=dict, init=False)
    _set: dict[Single[Any], Any] = field(factory=dict, init=False)

    def add(self, point: Point[T], *values: T) -> None:
        """Add `values` to those of a point."""
        self._added.setdefault(point, []).extend(values)

    def all(self, point: Point[T]) -> Sequence[T]:
        """Return the values of a point, and those that are added later."""
        return self._added.setdefault(point, [])

    def set(self, single: Single[T], value: T) -> None:
        """Set the value of a single, unless an earlier feature has done so."""
        self._set.setdefault(single, value)

    def get(self, single: Single[T]) -> T:
        value: T = self._set.get(single, single.default)
        return value
