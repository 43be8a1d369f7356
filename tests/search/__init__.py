from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import ParamSpec, TypeVar

import pytest

from directory_server.domain.entries import Entry
from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index import arrays
from tests.contract.index import additions

P = ParamSpec("P")
T = TypeVar("T")


class RecordingOffload:
    """An Offload that calls each function at once, and notes it in `functions`."""

    def __init__(self) -> None:
        self.functions: list[Callable[..., object]] = []

    async def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.functions.append(function)
        return function(*args, **kwargs)


def index_of(*entries: Entry) -> ImpactIndex:
    """Return an index of `entries`, which were added in one change."""
    index = ImpactIndex(inline)
    run_sync(index.apply(additions(*entries)))
    return index


def search_names(index: ImpactIndex, keywords: str) -> list[str]:
    """Return the names of the hits for `keywords`."""
    return [hit.name for hit in run_sync(index.search(Query(keywords))).hits]


@contextmanager
def using(engine: ModuleType | None) -> Iterator[None]:
    """Use this compiled engine, or none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "engine", engine)
        yield
