"""Claims of publishers: they nominate an entry, and its own text decides whether it gets a place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from attrs import evolve

from bench.catalogue.files import REAL, read_entries
from bench.catalogue.sets import SETS, read_set
from bench.engines.ours import our_index
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.ports.search import Index
from directory_server.domain.search import Query
from directory_server.run_sync import run_sync
from directory_server.search.index.claims import CLAIM, MAX_CLAIMED, MAX_QUERIES
from directory_server.search.index.document import build_document
from directory_server.search.index.meaning import meaning_vector
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import _LIGHT_WORDS
from directory_server.search.ranking.strength import KEPT
from directory_server.search.text.word_vectors import query_vector

OWN = Path(__file__).with_name("representative_queries.jsonl")
"""Queries that we wrote for real entries, in the way of their publishers, from their descriptions."""

RAIN = "Weather forecasts for cities: rain, wind and temperature of the next days."
UMBRELLA = "do I need an umbrella against the rain tomorrow"


def claiming(entry: Entry, queries: Sequence[Any], capabilities: Sequence[Any] = ()) -> Entry:
    """Return `entry` with claims."""
    meta = entry.server.get("_meta", {})
    claims = {"representativeQueries": [*queries], "capabilities": [*capabilities]}
    given = {**meta, PUBLISHER: {**meta.get(PUBLISHER, {}), **claims}}
    return evolve(entry, server={**entry.server, "_meta": given})


def entry(name: str, description: str) -> Entry:
    return Entry({"name": name, "version": "1", "description": description})


def mentioning(entry: Entry, text: str) -> Entry:
    """Return `entry` with `text` as the least of its texts."""
    return Entry({**entry.server, "_meta": {PUBLISHER: {"longDescription": text}}})


def claims(entry: Entry) -> set[str]:
    """Return the stems that are searched of the claims of `entry`."""
    terms = build_document(entry).special_terms
    return {term.removeprefix(CLAIM) for term in terms if term.startswith(CLAIM)}


def found(index: Index, query: str) -> list[str]:
    return [hit.server_name for hit in run_sync(index.search(Query(query, limit=10))).hits]


def test_a_claim_finds_an_entry_that_has_none_of_the_words() -> None:
    index = our_index([claiming(entry("a/rain", RAIN), [UMBRELLA], ["ForecastTool"]), entry("a/mail", "Sends mail.")])
    assert found(index, "umbrella") == ["a/rain"]
    assert found(index, "forecast tool")[0] == "a/rain"


def test_a_query_that_an_entry_answers_does_not_read_claims() -> None:
    plain = [entry("a/rain", RAIN), entry("a/mail", "Sends mail.")]
    claiming_all = claiming(entry("b/storms", "Weather warnings of storms and rain."), ["weather forecasts for cities"])
    query = "weather forecasts for cities"
    assert found(our_index([*plain, claiming_all]), query) == found(
        our_index([*plain, entry("b/storms", "Weather warnings of storms and rain.")]), query
    )


def test_a_match_by_a_claim_is_a_weak_one() -> None:
    claimed = claiming(entry("a/rain", RAIN), ["will the rain reach my laundry"])
    index = our_index([claimed, entry("a/mail", "Sends mail."), entry("a/sun", "Weather of the sun.")])
    page = run_sync(index.search(Query("laundry", limit=1)))
    assert ([hit.server_name for hit in page.hits], page.match, page.next) == (["a/rain"], "weak", None)
    assert found(index, "laundry flag:secrets") == []


def test_words_of_the_entry_and_repetitions_get_nothing() -> None:
    plain = entry("a/rain", RAIN)
    claimed = claiming(plain, [UMBRELLA, f"{UMBRELLA} umbrella umbrella rain rains"], ["umbrella rain"] * 9)
    assert claims(plain) == set()
    assert "umbrella" in claims(claimed)
    assert "rain" not in claims(claimed)
    assert build_document(claimed).words == build_document(plain).words


def test_claims_about_something_else_are_not_searched() -> None:
    others = ["query a postgres database", "review a pull request", "send a message to slack"]
    assert claims(claiming(entry("a/rain", RAIN), others, ["InvoiceTool"])) == set()


def test_claims_are_bounded() -> None:
    queries = [7, None, "", *(f"rain and wind {number}" for number in range(99)), "rain " + "wind " * 90 + "last"]
    assert claims(claiming(entry("a/rain", RAIN), queries)) == {"0", "1"}
    assert MAX_QUERIES == 5
    assert "last" not in claims(claiming(entry("a/rain", RAIN), queries[-1:]))
    long = " ".join(["rain wind weather", *(f"w{number}" for number in range(60))])
    assert len(claims(claiming(entry("a/rain", RAIN), [long] * 5, ["rain wind W1 X2"] * 32))) <= MAX_CLAIMED
    for wrong in ({"a": 1}, "rain", [["rain"]], None):
        stored = Entry({**entry("a/rain", RAIN).server, "_meta": {PUBLISHER: {"representativeQueries": wrong}}})
        assert claims(stored) == set()


def test_a_claim_does_not_outrank_a_mention() -> None:
    """The claim has the query itself, the others mention its words in the least of their texts."""
    query = "umbrella against rain tomorrow"
    others = [
        mentioning(
            entry(f"a/{number}", f"Weather of region {number}."),
            f"Says whether rain needs an umbrella tomorrow. {RAIN}",
        )
        for number in range(3)
    ]
    stuffed = claiming(entry("b/storms", "Weather warnings of storms."), [query, f"{query} {query}"])
    names = found(our_index([*others, stuffed]), query)
    assert names[:3] == ["a/0", "a/1", "a/2"]


def likeness(entry: Entry, query: str) -> float:
    """Return the cosine of the vectors of `query` and of the texts of `entry`."""
    vector = query_vector(parse(query).words, _LIGHT_WORDS)
    if vector is None:
        return 0.0
    one, other = (np.frombuffer(each, np.int8).astype(float) for each in (vector, meaning_vector(entry)))
    return float(one @ other / max(np.linalg.norm(one) * np.linalg.norm(other), 1))


def test_a_claim_takes_no_place_from_an_entry_whose_text_is_more_like_the_query() -> None:
    """The claim is the query itself, and the entry has none of its words."""
    query = "will the rain of tomorrow reach my laundry in Bergamo"
    text = "Shipyards: containers, steel, engines and software, which cranes reach in the rain."
    others = [entry(f"a/{number}", text) for number in range(KEPT)]
    near = mentioning(entry("b/near", "Showers, wind and storms of the next days."), "Snow or rain.")
    far = entry("b/far", "Washing clothes and shirts.")
    before = found(our_index([*others, near, far]), query)
    assert before == [each.name for each in others]
    assert likeness(far, query) < likeness(others[-1], query) < likeness(near, query)
    assert found(our_index([*others, near, claiming(far, [query])]), query) == before
    # Its text has none of the words.
    bare = entry("b/bare", "Showers, wind and storms of the next days.")
    assert found(our_index([*others, claiming(bare, [query]), far]), query) == before
    assert found(our_index([*others, claiming(near, ["rain tomorrow on my laundry"]), far]), query) == [
        *before[:-1],
        "b/near",
    ]


def test_stuffed_manifests_gain_nothing_among_real_entries(shared_data: Path) -> None:
    """Real entries claim judged queries of others: the text of each that enters is more like the query."""
    random, judged = Random(7), read_set(SETS / "capability.jsonl")[:40]
    by_name = {entry.name: entry for entry in read_entries(REAL)}
    graded = {name for each in judged for name in each.grades}
    wanted = [name for each in judged for name, grade in each.grades.items() if grade == 3][:300]
    queries = [each.query for each in judged]
    stuffers = random.sample([name for name in by_name if name not in graded], 150)
    names = dict.fromkeys([*wanted, *stuffers, *random.sample([*by_name], 150)])
    claims = {name: random.sample(queries, MAX_QUERIES) for name in stuffers}
    before = our_index([by_name[name] for name in names])
    after = our_index([claiming(by_name[name], claims.get(name, [])) for name in names])
    for query in queries:
        own, all_hits = found(before, query), found(after, query)
        kept, entered = [name for name in all_hits if name in own], [name for name in all_hits if name not in own]
        assert kept == [name for name in own if name in all_hits]
        assert all_hits == [*kept, *entered]
        left = [likeness(by_name[name], query) for name in own if name not in all_hits]
        assert max(left, default=-1.0) <= min((likeness(by_name[name], query) for name in entered), default=1.0)


def test_the_queries_of_the_evaluation_are_of_real_entries(shared_data: Path) -> None:
    names = {entry.name for entry in read_entries(REAL)}
    rows = [json.loads(line) for line in OWN.read_text("utf-8").splitlines()]
    assert [row["name"] for row in rows if row["name"] not in names] == []
    assert all(2 <= len(row["queries"]) <= MAX_QUERIES and row["held"] for row in rows)
