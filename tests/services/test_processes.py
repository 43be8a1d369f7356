"""Directory and Feed of two processes with one catalogue, on adapters in memory and the real index."""

from __future__ import annotations

from attrs import frozen
from twisted.internet.task import Clock

from directory_server.domain.entries import Entry
from directory_server.domain.search import Query
from directory_server.memory import BusGroup, Catalogue, MemoryBus, MemoryCuration, MemoryStore
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.services.directory import Directory
from directory_server.services.feed import Feed


@frozen
class Process:
    """A directory and its feed."""

    directory: Directory
    feed: Feed

    def found(self, keywords: str) -> list[str]:
        return [hit.server_name for hit in run_sync(self.directory.search(Query(keywords))).hits]


def process(catalogue: Catalogue, group: BusGroup) -> Process:
    store, index, bus = MemoryStore(catalogue, TextAnalysis()), ImpactIndex(inline), MemoryBus(group)
    feed = Feed(store, bus, [index], [], Clock())
    run_sync(feed.load())
    feed.startService()
    return Process(Directory(store, index, bus), feed)


def entry(name: str, description: str) -> Entry:
    return Entry({"name": name, "version": "1.0.0", "description": description})


def test_an_entry_is_searchable_in_every_process() -> None:
    catalogue, group = Catalogue(lambda: 1_000_000.0), BusGroup()
    one = process(catalogue, group)
    run_sync(one.directory.publish("a", [entry("x/mail", "Read and send mail.")]))
    other = process(catalogue, group)
    assert one.found("mail") == other.found("mail") == ["x/mail"]
    run_sync(other.directory.publish("a", [entry("x/post", "Send mail.")]))
    assert sorted(one.found("mail")) == sorted(other.found("mail")) == ["x/mail", "x/post"]


def test_a_hidden_name_is_found_by_no_process() -> None:
    catalogue, group = Catalogue(lambda: 1_000_000.0), BusGroup()
    one, other = process(catalogue, group), process(catalogue, group)
    run_sync(one.directory.publish("a", [entry("x/mail", "Read mail."), entry("x/post", "Send mail.")]))
    run_sync(MemoryCuration(catalogue).mark("x/mail", "hidden", True))
    MemoryBus(group).announce()
    assert one.found("mail") == other.found("mail") == ["x/post"]


def test_a_page_of_versions_ends_at_a_number_of_bytes() -> None:
    one = process(Catalogue(lambda: 1_000_000.0), BusGroup())
    run_sync(one.directory.publish("a", [entry(f"x/mail{number}", "Read mail. " * 50) for number in range(5)]))
    names: list[str] = []
    query = Query("mail")
    while True:
        versions, position = run_sync(one.directory.search_versions(query, 1_000))
        assert len(versions) <= 2
        names += [each.name for each in versions]
        if position is None:
            break
        query = Query("mail", after=position)
    assert names == one.found("mail")
    assert len(names) == 5
