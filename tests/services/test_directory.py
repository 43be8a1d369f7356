"""Directory: the page cache, likeness and publishing, on a stub of its ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest
from attrs import define, evolve, field

from directory_server.domain.changes import Outcome
from directory_server.domain.entries import Entry
from directory_server.domain.errors import Unavailable
from directory_server.domain.ports.runtime import Bus
from directory_server.domain.ports.search import Index
from directory_server.domain.ports.storage import Store
from directory_server.domain.search import Likeness, Page, Query, no_likeness
from directory_server.domain.views import Hit
from directory_server.runtime.run_sync import run_sync
from directory_server.serialization import encode_hit, hits_of
from directory_server.services.directory import Directory
from directory_server.services.page_cache import PAGES_BYTES, PageCache

NOTHING = Page(hits_of(()))
MAIL = Entry({"name": "a.example/mail", "version": "1.0.0", "description": "Read mail."})


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

    @property
    def directory(self) -> Directory:
        return Directory(cast(Store, self), cast(Index, self), cast(Bus, self))

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        if self.error is not None:
            raise self.error
        self.published.append((source, entries))
        return self.outcomes

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


def test_a_form_of_another_object_is_made_again() -> None:
    made = []

    def form(page: Page, users: dict[str, int]) -> int:
        made.append(users)
        return len(made)

    directory, users = StubPorts(page=page_of(Hit("1", "mail", "Reads.", ""))).directory, dict[str, int]()
    forms = [
        run_sync(directory.search_form(Query("mail"), form, None, given))
        for given in (users, users, users, {}, users, users, users)
    ]
    assert forms == [1, 2, 2, 3, 4, 4, 4]


def number_of_hits(page: Page) -> int:
    return len(page.hits)


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
