from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar
from weakref import ref

import pytest
from twisted.internet.defer import CancelledError, Deferred

from directory_server.domain.changes import Change
from directory_server.domain.search import Page, Query
from directory_server.runtime.run_sync import inline
from directory_server.search import ImpactIndex, impact_index
from directory_server.search.index import segment
from directory_server.search.index.segment import Segment
from directory_server.search.query import cost
from directory_server.search.query.cost import load_tables
from directory_server.search.tables.near_words import NearWords
from tests.contract import awaited
from tests.contract.index import IndexContract, additions, make_entry, removals, search_names

from . import RecordingOffload, index_of

P = ParamSpec("P")
T = TypeVar("T")


class TestImpactIndex(IndexContract):
    async def open(self) -> ImpactIndex:
        # Few entries are in one segment, so that the contract tests several.
        return ImpactIndex(inline, sizes=(1, 2))


class DeferredOffload:
    """An Offload that runs its function when the test calls `run`."""

    def __init__(self) -> None:
        self.run: Callable[[], object] = lambda: None

    def __call__(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        self.run = lambda: function(*args, **kwargs)
        return Deferred()


@pytest.fixture(scope="module", autouse=True)
def _tables() -> None:
    """Load the tables of words: a search would wait for them as long as the offload of a test does not run."""
    load_tables()


@awaited
async def test_a_search_during_an_apply_sees_the_state_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    index = index_of(make_entry("org.example/old", "letters"), make_entry("org.example/other", "letters"))
    before = await index.search(Query("letters"))
    seen: list[Page] = []
    merge = Segment.merge

    def search_then_merge(parts: Any) -> Segment:
        Deferred.fromCoroutine(index.search(Query("letters"))).addCallback(seen.append)
        return merge(parts)

    monkeypatch.setattr(Segment, "merge", search_then_merge)
    await index.apply([*removals("org.example/old"), *additions(make_entry("org.example/new", "letters"))])
    assert seen
    assert all(page == before for page in seen)
    assert await search_names(index, "letters") == ["org.example/new", "org.example/other"]


@awaited
async def test_a_search_does_not_wait_for_an_apply() -> None:
    index = ImpactIndex(offload := DeferredOffload())
    Deferred.fromCoroutine(index.apply(additions(make_entry("org.example/mail"))))
    assert (await search_names(index, "mail"), len(index), index.generation) == ([], 0, 0)
    offload.run()
    assert (await search_names(index, "mail"), len(index), index.generation) == (["org.example/mail"], 1, 1)


@awaited
async def test_cancelled_apply_takes_effect() -> None:
    index = ImpactIndex(offload := DeferredOffload())
    applying = Deferred.fromCoroutine(index.apply(additions(make_entry("org.example/mail", "letters"))))
    applying.addErrback(lambda failure: failure.trap(CancelledError))
    applying.cancel()
    offload.run()
    Deferred.fromCoroutine(index.apply(additions(make_entry("org.example/post", "letters"))))
    offload.run()
    assert await search_names(index, "letters") == ["org.example/mail", "org.example/post"]


@awaited
async def test_failed_apply_leaves_the_index_unchanged() -> None:
    index = index_of(make_entry("org.example/old", "letters"))

    lost = [*removals("org.example/old"), *additions(make_entry("org.example/lost", "parcels"))]
    bad = make_entry("org.example/bad")
    with pytest.raises(ValueError, match="unpack"):
        await index.apply([*lost, Change(9, "added", bad.mcp_id, b"{}", b"unreadable")])
    assert (await search_names(index, "letters"), len(index), index.generation) == (["org.example/old"], 1, 1)

    await index.apply(additions(make_entry("org.example/next", "letters")))
    assert await search_names(index, "letters") == ["org.example/next", "org.example/old"]
    assert await search_names(index, "parcels") == []


@awaited
async def test_removed_entries_take_no_memory() -> None:
    index = ImpactIndex(inline)
    for n in range(9):
        await index.apply(additions(make_entry(f"org.example/{n}", "letters")))
        await index.apply(removals(f"org.example/{n}"))
    assert len(index.snapshot.parts) == 0


@awaited
@pytest.mark.parametrize(
    ("keywords", "limits", "runs_in_thread"),
    [
        ("letters parcels", {}, False),
        # Any search of a large collection, also for a name and without words.
        ("letters parcels", {"LARGE": 8}, True),
        ("org.example/3", {"LARGE": 8}, True),
        ("official:false", {"LARGE": 8}, True),
        # Many rare words, and many postings, of one of medium size.
        ("zeppelins quokka", {"SMALL": 5, "MAX_STRINGS": 30}, True),
        ("letters ", {"SMALL": 5, "MAX_STRINGS": 30}, False),
        ("letters ", {"SMALL": 5, "MAX_POSTINGS": 8}, True),
        ("parcels ", {"SMALL": 5, "MAX_POSTINGS": 8}, False),
        # A phrase of function words is looked for in all texts.
        ('"to be or"', {"MAX_TEXTS": 1}, True),
        ('"to be or" parcels', {"MAX_TEXTS": 1}, False),
    ],
)
async def test_an_expensive_search_runs_in_a_thread(
    keywords: str, limits: dict[str, int], runs_in_thread: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = ImpactIndex(inline, searches=(offload := RecordingOffload()))
    await index.apply(additions(*(make_entry(f"org.example/{n}", "letters, to be or not") for n in range(9))))
    expected = await index.search(Query(keywords))
    assert offload.functions == []
    for name, limit in limits.items():
        monkeypatch.setattr(cost, name, limit)
    assert await index.search(Query(keywords)) == expected
    assert len(offload.functions) == runs_in_thread


@awaited
async def test_the_tables_of_misspelt_words_are_made_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "FEW_STRINGS", 1)
    index = ImpactIndex(inline, searches=(offload := RecordingOffload()))
    await index.apply(additions(*(make_entry(f"org.example/{n}", "letters parcels") for n in range(9))))
    await index.search(Query("letters"))
    assert len(offload.functions) == 1
    monkeypatch.setattr(NearWords, "of", None)
    for keywords in ("lettres", "parcles", "org.example/3"):
        await index.search(Query(keywords))
    assert len(offload.functions) == 1


@awaited
async def test_the_end_of_a_load_does_the_merges_that_were_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impact_index, "BULK", 3)
    index = ImpactIndex(inline, sizes=(1, 2))
    entries = [make_entry(f"org.example/server-{number}", "letters") for number in range(24)]
    await index.apply(additions(*entries[:20]))
    await index.apply(additions(*entries[20:]))
    assert [len(part.segment) for part in index.snapshot.parts] == [20, 4]
    before, generation = await search_names(index, "letters"), index.generation
    await index.apply([])
    assert [len(part.segment) for part in index.snapshot.parts] == [24]
    assert await search_names(index, "letters") == before
    assert index.generation == generation + 1
    await index.apply([])
    assert index.generation == generation + 1


@awaited
async def test_a_change_frees_the_state_that_was_searched_before_it() -> None:
    index = index_of(make_entry("org.example/old", "letters"))
    await index.search(Query("letters lettres mail"))
    await index.search(Query("letters", browse=True))
    before = ref(index.snapshot.view(None))

    gc.disable()
    try:
        await index.apply(additions(make_entry("org.example/new", "letters")))
        assert before() is None
    finally:
        gc.enable()
