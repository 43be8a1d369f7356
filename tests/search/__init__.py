from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def inline(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in the calling thread: an Offload for tests."""
    return function(*args, **kwargs)
