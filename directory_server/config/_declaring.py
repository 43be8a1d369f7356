"""How a setting is declared: its default, its meaning and its check."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import attrs
from attrs import field

T = TypeVar("T")
Check: TypeAlias = Callable[[Any, "attrs.Attribute[Any]", Any], None]

UNLIMITED = "unlimited"
"""How the absence of a limit is written."""


def setting(default: T, doc: str, check: Check | None = None, *, secret: bool = False, separator: str = ",") -> T:
    """Declare a setting: what it is unless set, its meaning in one line, and what `check` (a validator) demands.

    The value of a `secret` is never shown; `separator` parts the items of a tuple that is given as text.
    """
    return field(default=default, validator=check, metadata={"doc": doc, "secret": secret, "separator": separator})


def at_least(least: int) -> Check:
    """Demand a number of at least `least`, or none."""

    def check(_: object, __: object, value: float | None) -> None:
        if value is not None and value < least:
            raise ValueError(f"must be at least {least}")

    return check


def each(pattern: str, words: str, *, empty: bool = True) -> Check:
    """Demand items that each match `pattern`, described by `words`; none at all only where they may be `empty`."""

    def check(_: object, __: object, items: tuple[str, ...]) -> None:
        if not (items or empty) or not all(re.fullmatch(pattern, item) for item in items):
            raise ValueError(f"must be {words}")

    return check
