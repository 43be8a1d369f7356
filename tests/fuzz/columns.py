"""Calls of compiled functions: recorded ones with valid columns of the index, and copies with a damaged argument."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from random import Random
from types import ModuleType
from typing import Any

import numpy as np

from .shares import Shares

EXTREMES = (0, 1, -1, 2, 63, 64, 65, 255, 256, 2**15, 2**30, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**62, 2**63 - 1)

EXPECTED = (ValueError, IndexError, TypeError, OverflowError, MemoryError, SystemError)
"""What a compiled function may raise for wrong arguments: SystemError for an object that is no list."""


class RecordingModule(ModuleType):
    """The engine, with its calls recorded. They read copies with a red zone directly behind."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(module.__name__)
        self._module = module
        self.calls: list[tuple[str, list[Any], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._module, name)

        def call(*arguments: Any, **named: Any) -> Any:
            own = [each.copy() if is_view(each) else each for each in arguments]
            own_named = {key: value.copy() if is_view(value) else value for key, value in named.items()}
            self.calls.append((name, own, own_named))
            return function(*own, **own_named)

        return call

    def replay(self, random: Random, shares: Shares) -> None:
        """Repeat each recorded call with one damaged argument, and a few with one of another call."""
        others = [value for _, arguments, named in self.calls for value in (*arguments, *named.values())]
        for name, arguments, named in self.calls:
            shares.add(name, accepted=True)
            changed: dict[Any, Any] = {**dict(enumerate(arguments)), **named}
            key = random.choice([*changed])
            changed[key] = random.choice(others) if random.random() < 0.1 else damaged(random, changed[key])
            try:
                getattr(self._module, name)(
                    *(changed.pop(place) for place in range(len(arguments))),
                    **changed,
                )
            except EXPECTED:
                shares.add(name, accepted=False)
            else:
                shares.add(name, accepted=True)


def is_view(argument: Any) -> bool:
    """Return whether `argument` is an array in the memory of another object."""
    return isinstance(argument, np.ndarray) and not argument.flags.owndata


def damaged(random: Random, value: Any) -> Any:
    """Return a damaged copy of an argument; of a list, with a damaged item."""
    match value:
        case np.ndarray():
            return damaged_column(random, value)
        case array():
            return damaged_column(random, np.array(value))
        case dict():
            name = random.choice([*value])
            return {**value, name: damaged(random, value[name])}
        case bytes():
            # Structs have numbers of 32 bits.
            return damaged_column(random, np.frombuffer(value, np.uint8 if len(value) % 4 else np.uint32)).tobytes()
        case list() if value and random.random() < 0.8:
            place = random.randrange(len(value))
            return [*value[:place], damaged(random, value[place]), *value[place + 1 :]]
        case int():
            return random.choice([value - 1, value + 1, *EXTREMES])
        case float():
            return random.choice([-value, float("nan"), float("inf"), 1e300])
        case _:
            return random.choice([None, "text", *EXTREMES])


def damaged_column(random: Random, column: Any) -> Any:
    """Return a copy of a column that is shorter, longer, in another order, or has other numbers."""
    match random.choice([0, 1, 2, 3, 3, 3, 3, 4]):
        case 0:
            return column[: random.randint(0, len(column))].copy()
        case 1:
            return np.concatenate([column, column[:1]])
        case 2:
            return column[::-1].copy()
        case 3 if len(column):
            column = column.copy()
            number = random.choice([random.choice(EXTREMES), column[random.randrange(len(column))]])
            with np.errstate(all="ignore"):
                column[random.randrange(len(column))] = np.array(number).astype(column.dtype)
            return column
        case _:
            return np.frombuffer(random.randbytes(random.randint(0, 80)), np.uint8).copy()


def check_equal(compiled: Iterable[Any], plain: Iterable[Any]) -> None:
    """Compare the results of compiled code with those of its twin in Python, exactly."""
    for number, (one, other) in enumerate(zip(compiled, plain, strict=True)):
        np.testing.assert_array_equal(one, other, err_msg=f"result {number}", strict=True)
