from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import ParamSpec, TypeVar

import pytest

from directory_server.domain.entries import Entry
from directory_server.search import ImpactIndex
from directory_server.search.index import arrays
from tests.contract.index import additions

P = ParamSpec("P")
T = TypeVar("T")


async def inline(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in the calling thread: an Offload for tests."""
    return function(*args, **kwargs)


class RecordingOffload:
    """An Offload that calls each function at once, and notes it in `functions`."""

    def __init__(self) -> None:
        self.functions: list[Callable[..., object]] = []

    async def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.functions.append(function)
        return function(*args, **kwargs)


async def index_of(*entries: Entry) -> ImpactIndex:
    """Return an index of `entries`, which were added in one change."""
    index = ImpactIndex(inline)
    await index.apply(additions(*entries))
    return index


@contextmanager
def using(engine: ModuleType | None) -> Iterator[None]:
    """Use this compiled engine, or none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "engine", engine)
        yield
