from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from attrs import evolve

from directory_server.domain.changes import Change
from directory_server.domain.entries import Entry
from directory_server.domain.search import Page, Query
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from directory_server.search.query.rows import Plan, Word
from tests.contract.index import additions, make_entry

P = ParamSpec("P")
T = TypeVar("T")

OTHERS = [make_entry(f"org.example/{number}", "Something else") for number in range(20)]
"""Entries that no test searches for, so that a word of one entry is rare."""


class RecordingOffload:
    """An Offload that calls each function at once, and notes it in `functions`."""

    def __init__(self) -> None:
        self.functions: list[Callable[..., object]] = []

    async def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.functions.append(function)
        return function(*args, **kwargs)


def index_of(*entries: Entry, batch: int = 0) -> ImpactIndex:
    """Return an index of `entries`: added in one change, or in several of `batch` entries to small segments."""
    return index_of_changes(additions(*entries), batch)


def index_of_changes(changes: Sequence[Change], batch: int = 0) -> ImpactIndex:
    """Return an index of `changes`, as for `index_of`."""
    index = ImpactIndex(inline, sizes=(2, 6)) if batch else ImpactIndex(inline)
    for start in range(0, len(changes), batch or max(len(changes), 1)):
        run_sync(index.apply(changes[start : start + batch] if batch else changes))
    return index


def search(index: ImpactIndex, keywords: str, limit: int = 50, **fields: Any) -> Page:
    """Return the page for `keywords`."""
    return run_sync(index.search(Query(keywords, limit, **fields)))


def search_names(index: ImpactIndex, keywords: str, limit: int = 50) -> list[str]:
    """Return the names of the hits for `keywords`."""
    return [hit.name for hit in search(index, keywords, limit).hits]


def all_ids(index: ImpactIndex, query: Query) -> list[str]:
    """Return the ids of the hits of all pages of `query`."""
    found: list[str] = []
    while True:
        page = run_sync(index.search(query))
        found += [hit.mcp_id for hit in page.hits]
        if page.next is None:
            return found
        query = evolve(query, after=page.next)


def plan_of(index: ImpactIndex, keywords: str) -> Plan:
    """Return the plan of `keywords` for all entries."""
    return build_plan(parse(keywords), index.snapshot.view(None))


def word_of(index: ImpactIndex, keywords: str, text: str) -> Word:
    """Return the word `text` of the plan of `keywords`."""
    (word,) = (word for word in plan_of(index, keywords).words if word.text == text)
    return word


def terms_of(index: ImpactIndex, keywords: str, text: str) -> set[str]:
    """Return the terms by which the word `text` of `keywords` is searched, those of two words joined by a space."""
    return {" ".join(dict.fromkeys(row[:2])) for row in word_of(index, keywords, text).rows}
