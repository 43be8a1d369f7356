"""Directory and Feed of two processes with one database, and the real index."""

from __future__ import annotations

from attrs import frozen
from twisted.internet.task import Clock

from directory_server.domain.entries import Entry
from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex, TextAnalysis
from directory_server.services.directory import Directory
from directory_server.services.feed import Feed
from directory_server.sqlite import Database, SqliteStore, SqliteTables
from directory_server.tables import StoredCuration
from directory_server.timers import Listeners


@frozen
class Process:
    """A directory and its feed."""

    directory: Directory
    feed: Feed

    def found(self, keywords: str) -> list[str]:
        return [hit.server_name for hit in run_sync(self.directory.search(Query(keywords))).hits]


def process(database: Database, bus: Listeners) -> Process:
    store, index = SqliteStore(database, inline, TextAnalysis()), ImpactIndex(inline)
    feed = Feed(store, bus, [index], [], Clock())
    run_sync(feed.load())
    feed.startService()
    return Process(Directory(store, index, bus), feed)


def entry(name: str, description: str) -> Entry:
    return Entry({"name": name, "version": "1.0.0", "description": description})


def test_an_entry_is_searchable_in_every_process(directory_database: Database) -> None:
    bus = Listeners()
    one = process(directory_database, bus)
    run_sync(one.directory.publish("a", [entry("x/mail", "Read and send mail.")]))
    other = process(directory_database, bus)
    assert one.found("mail") == other.found("mail") == ["x/mail"]
    run_sync(other.directory.publish("a", [entry("x/post", "Send mail.")]))
    assert sorted(one.found("mail")) == sorted(other.found("mail")) == ["x/mail", "x/post"]


def test_a_hidden_name_is_found_by_no_process(directory_database: Database) -> None:
    bus = Listeners()
    one, other = process(directory_database, bus), process(directory_database, bus)
    run_sync(one.directory.publish("a", [entry("x/mail", "Read mail."), entry("x/post", "Send mail.")]))
    run_sync(StoredCuration(SqliteTables(directory_database)).mark("x/mail", "hidden", True))
    bus.announce()
    assert one.found("mail") == other.found("mail") == ["x/post"]


def test_a_page_of_versions_ends_at_a_number_of_bytes(directory_database: Database) -> None:
    one = process(directory_database, Listeners())
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
