"""Directory: the page cache, search, detail and publishing, on a stub of its ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest
from attrs import define, evolve, field

from directory_server.domain.changes import Outcome
from directory_server.domain.entries import Entry
from directory_server.domain.errors import Gone, NotFound, Unavailable
from directory_server.domain.ports.runtime import Bus
from directory_server.domain.ports.search import Index
from directory_server.domain.ports.storage import Store
from directory_server.domain.search import Likeness, Page, Position, Query, no_likeness
from directory_server.domain.views import Hit
from directory_server.run_sync import run_sync
from directory_server.serialization import encode_hit, hits_of
from directory_server.services.directory import Directory
from directory_server.services.feed import check_position
from directory_server.services.page_cache import PAGES, PAGES_BYTES, PageCache

NOTHING = Page(hits_of(()))
MAIL = Entry({"name": "a.example/mail", "version": "1.0.0", "description": "Read mail."})


LOG = "0c9f1e22ab34"


@define
class StubPorts:
    """The methods of Store, Index and Bus that Directory calls."""

    outcomes: list[Outcome] = field(factory=list)
    page: Page = NOTHING
    error: Exception | None = None
    published: list[tuple[str, Sequence[Entry]]] = field(factory=list)
    queries: list[Query] = field(factory=list)
    announcements: int = 0
    generation: int = 1
    log: range = range(1, 1)

    @property
    def directory(self) -> Directory:
        return Directory(cast(Store, self), cast(Index, self), cast(Bus, self))

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        if self.error is not None:
            raise self.error
        self.published.append((source, entries))
        return self.outcomes

    async def entry(self, mcp_id: str) -> Entry | None:
        return MAIL if mcp_id == MAIL.mcp_id else None

    async def oldest(self) -> int:
        return self.log[0] if self.log else 0

    async def log_id(self) -> str:
        return LOG

    async def head(self) -> int:
        return self.log[-1] if self.log else 0

    async def search(self, query: Query) -> Page:
        self.queries.append(query)
        return self.page

    def announce(self) -> None:
        self.announcements += 1


def page_of(*hits: Hit) -> Page:
    return Page(hits_of([encode_hit(hit, hit.server_name) for hit in hits]))


def test_a_page_is_cached_until_a_change() -> None:
    ports = StubPorts(page=page_of(Hit("1", "mail", "Reads.", "")))
    directory = ports.directory
    first = run_sync(directory.search(Query("mail")))
    assert run_sync(directory.search(Query("mail"))) is first
    run_sync(directory.search(Query("mail", 5)))
    ports.generation += 1
    run_sync(directory.search(Query("mail")))
    assert ports.queries == [Query("mail"), Query("mail", 5), Query("mail")]


def test_pages_with_different_likeness_are_cached_apart() -> None:
    def first(entries: Sequence[int]) -> Sequence[float]:
        return [1.0 for _ in entries]

    def second(entries: Sequence[int]) -> Sequence[float]:
        return [0.0 for _ in entries]

    likeness: list[Likeness | None] = [None, first, second, first, None]
    given = iter(likeness)

    async def source(query: Query) -> Likeness | None:
        return next(given)

    ports = StubPorts()
    directory = evolve(ports.directory, likeness=source)
    for _ in likeness:
        run_sync(directory.search(Query("mail")))
    assert [query.likeness for query in ports.queries] == [no_likeness, first, second]


def test_several_searches_for_a_prepared_query_have_one_likeness() -> None:
    asked: list[Query] = []

    async def source(query: Query) -> Likeness | None:
        asked.append(query)
        return None

    ports = StubPorts()
    directory = evolve(ports.directory, likeness=source)
    query = run_sync(directory.prepare(Query("mail")))
    for limit in (1, 2):
        run_sync(directory.search(evolve(query, limit=limit)))
    assert asked == [Query("mail")]
    assert run_sync(ports.directory.prepare(Query("mail"))) == Query("mail")


def test_the_cache_keeps_the_most_recently_used_pages() -> None:
    ports = StubPorts()
    directory = ports.directory
    for number in (*range(PAGES), 0, PAGES, 0, 1):
        run_sync(directory.search(Query(str(number))))
    assert [query.keywords for query in ports.queries] == [*map(str, range(PAGES + 1)), "1"]


def test_the_cache_is_bounded_in_bytes() -> None:
    cache = PageCache()
    large = page_of(*(Hit(str(number), "n", "é" * 50_000, "") for number in range(10)))
    assert 1_000_000 < large.hits.size < 1_010_000
    for number in range(40):
        assert cache.get(1, Query(str(number))) is None
        cache.put(1, Query(str(number)), large)
    cached_numbers = [number for number in range(40) if cache.get(1, Query(str(number)))]
    assert cached_numbers == list(range(40 - PAGES_BYTES // large.hits.size, 40))
    # A page that is put twice counts once.
    cache.put(1, Query("39"), large)
    assert [number for number in range(40) if cache.get(1, Query(str(number)))] == cached_numbers


def test_the_cache_has_pages_of_one_generation() -> None:
    cache = PageCache()
    for generation in (1, 2):
        assert cache.get(generation, Query("mail")) is None
        cached = cache.put(generation, Query("mail"), NOTHING)
        assert cache.get(generation, Query("mail")) is cached
    # A search that began before the change ends after it.
    assert cache.put(1, Query("late"), NOTHING).page is NOTHING
    assert cache.get(2, Query("late")) is None
    assert cache.get(2, Query("mail")) is not None


def test_the_size_of_the_cache_does_not_count_pages_of_earlier_generations() -> None:
    cache = PageCache()
    eighth = Page(evolve(NOTHING.hits, size=PAGES_BYTES // 8))
    for generation in (1, 2):
        for number in range(8):
            cache.get(generation, Query(str(number)))
            cache.put(generation, Query(str(number)), eighth)
    assert all(cache.get(2, Query(str(number))) for number in range(8))


def test_a_page_that_is_too_large_is_searched_again_with_a_smaller_limit() -> None:
    ports = StubPorts(page=page_of(*(Hit(str(number), "n", "x" * 100_000, "") for number in range(10))))
    run_sync(ports.directory.search(Query("mail", 10)))
    assert ports.queries == [Query("mail", 10), Query("mail", 5)]


def test_the_second_form_of_a_page_is_cached_for_each_function() -> None:
    computed = []

    def upper_name(page: Page) -> str:
        computed.append(page)
        return "MAIL"

    page = page_of(Hit("1", "mail", "Reads.", ""))
    ports = StubPorts(page=page)
    directory = ports.directory
    forms = [
        run_sync(directory.search_form(Query("mail"), function))
        for function in (upper_name, upper_name, upper_name, number_of_hits)
    ]
    assert forms == ["MAIL", "MAIL", "MAIL", 1]
    assert computed == [page, page]
    ports.generation += 1
    run_sync(directory.search_form(Query("mail"), upper_name))
    assert computed == [page, page, page]


def number_of_hits(page: Page) -> int:
    return len(page.hits)


def test_a_search_returns_the_page_of_the_index() -> None:
    page = evolve(page_of(Hit(MAIL.mcp_id, "Mail", "Read mail.", "")), next=Position(1.5, MAIL.name))
    ports, query = StubPorts(page=page), Query("mail", 1)
    assert run_sync(ports.directory.search(query)) == page
    assert ports.queries == [query]


def test_detail_returns_the_full_entry() -> None:
    assert run_sync(StubPorts().directory.detail(MAIL.mcp_id)) == MAIL.detail()


def test_detail_of_an_unknown_entry_raises_not_found() -> None:
    with pytest.raises(NotFound, match=r"No entry has the mcp_id nothing\."):
        run_sync(StubPorts().directory.detail("nothing"))


@pytest.mark.parametrize(
    ("outcomes", "announcements"),
    [([], 0), (["unchanged", "unchanged"], 0), (["unchanged", "added"], 1), (["changed", "changed"], 1)],
)
def test_a_change_is_announced_once(outcomes: list[Outcome], announcements: int) -> None:
    ports = StubPorts(outcomes=outcomes)
    entries = [MAIL] * len(outcomes)
    assert run_sync(ports.directory.publish("local", entries)) == outcomes
    assert ports.published == [("local", entries)]
    assert ports.announcements == announcements


def test_a_failed_publish_is_not_announced() -> None:
    ports = StubPorts(error=Unavailable("The disk is full."))
    with pytest.raises(Unavailable):
        run_sync(ports.directory.publish("local", [MAIL]))
    assert ports.announcements == 0


@pytest.mark.parametrize(
    ("log", "positions"), [(range(1, 1), [0]), (range(1, 6), [0, 1, 5]), (range(4, 6), [3, 4, 5])], ids=str
)
def test_accepts_positions_within_the_log(log: range, positions: list[int]) -> None:
    store = cast(Store, StubPorts(log=log))
    for position in positions:
        run_sync(check_position(store, position))


def test_rejects_positions_of_another_log() -> None:
    store = cast(Store, StubPorts(log=range(1, 6)))
    run_sync(check_position(store, 3, LOG))
    with pytest.raises(Gone, match="Cannot continue from change 3: the directory was restored from a backup") as caught:
        run_sync(check_position(store, 3, "ffffffffffff"))
    assert caught.value.head == 5


@pytest.mark.parametrize(("log", "position"), [(range(1, 1), 1), (range(1, 6), 6), (range(4, 6), 2), (range(4, 6), 0)])
def test_rejects_positions_outside_the_log(log: range, position: int) -> None:
    with pytest.raises(Gone, match=f"Cannot continue from change {position}") as caught:
        run_sync(check_position(cast(Store, StubPorts(log=log)), position))
    assert caught.value.head == (log[-1] if log else 0)
