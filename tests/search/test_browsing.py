"""Browsing: orders by stars and dates, summaries of matches, and the search for all entries."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.domain.search import Order, Page, Query
from directory_server.runtime.run_sync import run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index.document import build_document
from directory_server.search.index.facets import Sorting, facet, sorting_of
from directory_server.search.query import cost
from directory_server.search.query.cost import load_tables
from tests.contract.index import additions, removals

from . import RecordingOffload, all_ids, index_of, index_of_changes, search

NOW = 500_000


def entry(
    name: str, description: str = "mail", *, updated: object = None, packages: Any = (), **publisher: Any
) -> Entry:
    server = {
        "name": f"org.example/{name}",
        "description": description,
        "version": "1.0.0",
        "packages": [{"registryType": kind, "transport": {"type": "stdio"}} for kind in packages],
        "_meta": {PUBLISHER: publisher},
    }
    return Entry(server, {OFFICIAL: {"updatedAt": updated}} if updated else {}, is_official=bool(updated))


def browse(index: ImpactIndex, keywords: str = "", sort: Order = "relevance", limit: int = 100, **fields: Any) -> Page:
    return search(index, keywords, limit, sort=sort, until=NOW, browse=True, **fields)


def names(page: Page) -> list[str]:
    return [hit.server_name.removeprefix("org.example/") for hit in page.hits]


def counts(page: Page, name: str) -> dict[str, int]:
    assert page.summary is not None
    return {value.value: value.count for value in page.summary.facets.get(name, ())}


def test_most_stars_come_first_and_unknown_ones_last() -> None:
    index = index_of(*(entry(f"s{stars}", stars=stars) for stars in (7, 0, 500, 10_000_000)), entry("none"), batch=2)
    expected = ["s10000000", "s500", "s7", "s0", "none"]
    assert names(browse(index, "mail", "stars")) == names(browse(index, "", "stars")) == expected


def test_the_last_updated_comes_first_and_dates_in_the_future_are_unknown() -> None:
    dates = {"old": "2020-01-01T00:00:00Z", "new": "2026-06-01T10:00:00+02:00", "future": "2900-01-01T00:00:00Z"}
    index = index_of(*(entry(name, updated=date) for name, date in dates.items()), entry("never"))
    found = names(browse(index, "mail", "updated"))
    assert found[:2] == ["new", "old"]
    assert set(found[2:]) == {"future", "never"}


@pytest.mark.parametrize("sort", ["relevance", "stars", "updated"])
@pytest.mark.parametrize("keywords", ["", "mail"])
def test_pages_are_contiguous_also_with_equal_values(sort: Order, keywords: str) -> None:
    random = Random(3)
    entries = [
        entry(f"{number}", stars=random.choice([None, 1, 2]), updated=random.choice([None, "2026-01-01T00:00:00Z"]))
        for number in range(60)
    ]
    index = index_of(*entries, batch=7)
    run_sync(index.apply(removals(*(entry.name for entry in entries[::9]))))
    query = Query(keywords, 100, None, sort, NOW, browse=True)
    whole = all_ids(index, query)
    assert len(whole) == len(set(whole)) == 53
    for limit in (1, 7, 52, 53):
        assert all_ids(index, evolve(query, limit=limit)) == whole
    for offset in (0, 10, 52, 53, 99):
        page = run_sync(index.search(evolve(query, limit=10, offset=offset)))
        assert [hit.mcp_id for hit in page.hits] == whole[offset : offset + 10]
        assert (page.next is not None) == (offset < 43)


@pytest.mark.parametrize("sort", ["relevance", "stars"])
def test_a_position_stays_valid_when_entries_change(sort: Order) -> None:
    """The next page begins behind the last hit: none of those before it comes again, and none is left out."""
    entries = [entry(f"{number:02}", "mail " * (1 + number % 3), stars=number % 5) for number in range(40)]
    index = index_of(*entries, *(entry(f"x{number}", "parcels") for number in range(100)), batch=7)
    query = Query("mail", 10, None, sort, NOW)
    first = run_sync(index.search(query))
    before = all_ids(index, query)
    # Two hits of the page and one behind it go away, and another entry of no match comes: rarities change.
    gone = {before[8], before[4], before[20]}
    changes = [entry for entry in entries if entry.mcp_id in gone]
    run_sync(index.apply([*removals(*(entry.name for entry in changes)), *additions(entry("new", "parcels"))]))
    rest = all_ids(index, evolve(query, after=first.next))
    assert rest == [mcp_id for mcp_id in before[10:] if mcp_id not in gone]


def test_other_orders_list_close_matches_only() -> None:
    close = [entry(f"weather-{number}", "Weather forecasts.", stars=number) for number in range(12)]
    passing = entry("famous", "Anything", stars=90_000, longDescription=f"weather {'and much more ' * 400}")
    index = index_of(*close, passing)
    assert "famous" in names(browse(index, "weather"))
    assert names(browse(index, "weather", "stars")) == [f"weather-{number}" for number in reversed(range(12))]


def test_a_pin_does_not_change_another_order() -> None:
    entries = [entry(f"s{number}", stars=number) for number in range(30)]
    index = index_of_changes(
        [evolve(change, pinned=number == 3) for number, change in enumerate(additions(*entries))], 4
    )
    assert names(browse(index, "mail"))[0] == "s3"
    assert names(browse(index, "mail", "stars")) == [f"s{number}" for number in reversed(range(30))]


def test_a_summary_counts_each_value_of_the_matches() -> None:
    entries = [
        entry("one", packages=["npm"], categories=["Databases"], license="MIT"),
        entry("two", packages=["npm", "pypi"], tags=["sqlite"], language="Rust"),
        entry("three", "parcels", packages=["oci"], categories=["Analytics", "Cloud"], updated="2026-01-01T00:00:00Z"),
        entry("gone", packages=["npm"], categories=["Cloud"]),
    ]
    index = index_of(*entries, batch=1)
    run_sync(index.apply(removals("org.example/gone")))
    whole, mail = browse(index), browse(index, "mail")
    assert whole.summary is not None
    assert mail.summary is not None
    assert (whole.summary.total, mail.summary.total) == (3, 2)
    assert counts(whole, "package") == {"npm": 2, "pypi": 1, "oci": 1}
    assert counts(mail, "package") == {"npm": 2, "pypi": 1}
    # One category for all spellings, and for tags where the publisher gives no category.
    assert counts(whole, "category") == {"databases": 2, "data": 1, "cloud": 1}
    assert counts(whole, "license") == {"mit": 1}
    assert counts(whole, "official") == {"true": 1}
    assert counts(mail, "official") == {}
    assert counts(whole, "language")["rust"] == 1
    assert counts(whole, "transport") == {"stdio": 3}


def test_the_summary_counts_the_close_matches() -> None:
    near = [entry(f"near-{number}", "parcel tracking") for number in range(14)]
    far = [entry(f"far-{number}", "an unrelated text that mentions a parcel once") for number in range(200)]
    index = index_of(*near, *far)
    found, sorted_page = browse(index, "parcel tracking"), browse(index, "parcel tracking", sort="stars")
    assert found.summary is not None
    assert sorted_page.summary is not None
    assert found.summary.total == 214
    assert found.summary.close == sorted_page.summary.close == sorted_page.summary.total == 14
    whole = browse(index).summary
    assert whole is not None
    assert whole.close == whole.total == 214


def test_the_category_of_an_entry_follows_from_its_words_if_the_publisher_names_none() -> None:
    briefs = {
        "Run SQL queries against a PostgreSQL database and list its tables.": ["databases"],
        "Send and read messages, e-mails and chats in Slack channels.": ["communication"],
        "An MCP server.": [],
        "": [],
    }
    for brief, expected in briefs.items():
        documents = [
            build_document(Entry({"name": "a/b", "version": "1", "description": brief, "_meta": meta}))
            for meta in ({}, {PUBLISHER: {"categories": ["Weather"]}})
        ]
        terms = [[term for term in document.special_terms if "category:" in term] for document in documents]
        assert terms == [[facet("category", name) for name in expected], [facet("category", "maps")]], brief


@pytest.mark.parametrize(
    "keywords", ["", "mail", "parcels mail", '"reads mail"', "-parcels", "runs:local", "mail package:npm"]
)
def test_a_count_is_the_number_of_matches_with_the_filter(keywords: str) -> None:
    random = Random(8)
    kinds = ["npm", "pypi", "oci"]
    index = index_of(
        *(
            entry(
                f"{number}",
                random.choice(["reads mail", "mail reads", "sends parcels", "parcels and mail"]),
                packages=random.sample(kinds, random.randint(0, 3)),
                categories=random.sample(["Data", "Cloud & More", "中文 分类"], random.randint(0, 2)),
                license=random.choice([None, "MIT", "Apache 2.0"]),
            )
            for number in range(50)
        ),
        batch=9,
    )
    page = browse(index, keywords)
    assert page.summary is not None
    assert page.summary.total == len(page.hits) > 0
    checked = Counter(page.summary.facets)
    assert {"category", "package", "license", "runs"} <= checked.keys()
    for name, values in page.summary.facets.items():
        for value in values:
            narrowed = browse(index, f'{keywords} {name}:"{value.value}"')
            assert len(narrowed.hits) == value.count, (name, value)


def test_only_queries_to_browse_match_everything_and_have_a_summary() -> None:
    index = index_of(entry("one"))
    assert len(search(index, "").hits) == 0
    assert len(browse(index).hits) == 1
    assert search(index, "mail").summary is search(index, "mail", sort="stars").summary is None
    assert names(browse(index_of())) == []


def test_slow_queries_run_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    index = index_of(*(entry(f"{number}", "reads mail", packages=["npm"]) for number in range(20)))
    monkeypatch.setattr(index, "_searches", offload := RecordingOffload())
    monkeypatch.setattr(cost, "MAX_TEXTS", 10)
    monkeypatch.setattr(cost, "BROWSED", 20)
    load_tables()
    page = browse(index, "package:npm", limit=5)
    browse(index, "mail")
    assert offload.functions == []
    monkeypatch.setattr(cost, "BROWSED", 19)
    for query in (Query('"to the"'), Query("mail", browse=True), Query("package:npm", 5, page.next)):
        run_sync(index.search(query))
    assert len(offload.functions) == 3


def test_a_summary_has_the_words_that_were_corrected() -> None:
    index = index_of(entry("github", "Pull requests of GitHub."), entry("mail"))
    summary = browse(index, "githbu requests").summary
    assert summary is not None
    assert summary.corrected == {"githbu": "github"}
    known = browse(index, "github requests").summary
    assert known is not None
    assert known.corrected == {}


@pytest.mark.parametrize(
    ("dates", "hours"),
    [
        ({"updatedAt": "2026-01-02T03:04:05Z", "publishedAt": "2025-01-01T00:00:00Z"}, 490_923),
        ({"publishedAt": "1970-01-01T02:30:00Z"}, 2),
        ({"updatedAt": "1960-01-01T00:00:00Z"}, 0),
        ({"updatedAt": "9999-12-31T23:59:59Z"}, 0),
        ({"updatedAt": 7, "publishedAt": "soon"}, 0),
        ({}, 0),
    ],
)
def test_dates_are_hours(dates: dict[str, Any], hours: int) -> None:
    assert sorting_of(Entry({"name": "a/b", "version": "1"}, {OFFICIAL: dates})) == Sorting(-1, hours)


@pytest.mark.parametrize("sort", ["relevance", "stars", "updated"])
def test_the_order_of_equal_values_does_not_depend_on_that_of_changes(sort: Order) -> None:
    index, other = (index_of(*(entry(name) for name in order), batch=3) for order in ("abcdefgh", "hgfedcba"))
    assert names(browse(index, "", sort)) == names(browse(other, "", sort))


def test_namespaces_of_matches_are_counted() -> None:
    index = index_of(entry("a", "reads mail"), entry("b", "reads mail"), entry("c", "sends parcels"))
    page = browse(index, "mail")
    assert page.summary is not None
    assert [(found.value, found.count) for found in page.summary.namespaces()] == [("org.example", 2)]


def test_relevance_falls_from_the_strength_of_the_query() -> None:
    index = index_of(*(entry(f"{number}", "reads mail " + "and more " * number) for number in range(8)))
    first = search(index, "reads mail", 5)
    second = search(index, "reads mail", 5, after=first.next)
    relevance = [*first.relevance, *second.relevance]
    assert len(relevance) == 8
    assert relevance[0] == first.strength == max(relevance)
    assert relevance == sorted(relevance, reverse=True)
    assert relevance[-1] > 0


def test_a_pinned_entry_is_not_more_relevant_than_a_better_match() -> None:
    entries = additions(entry("a", "reads mail"), entry("b", "sends parcels with some mail"))
    plain = search(index_of_changes(entries), "reads mail")
    page = search(index_of_changes([entries[0], evolve(entries[1], pinned=True)]), "reads mail")
    assert names(page) == ["b", "a"]
    assert 0 < page.relevance[0] < page.relevance[1] <= plain.relevance[0]
