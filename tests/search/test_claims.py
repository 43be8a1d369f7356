"""Claims of publishers: they nominate an entry, and its own text decides whether it gets a place."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from attrs import evolve

from bench.catalogue.sets import HALVES
from bench.claims import read_made
from bench.engines.ours import our_index
from directory_server.domain.entries import PUBLISHER, Entry
from directory_server.domain.ports.search import Index
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import run_sync
from directory_server.search.index.claims import CLAIM, MAX_CLAIMED, MAX_QUERIES
from directory_server.search.index.document import build_document

KEPT = 10
"""The hits of a query without a close match."""

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
    assert build_document(claimed).terms == build_document(plain).terms


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


def test_a_claim_takes_no_place_from_an_entry_that_matches() -> None:
    """The claim is the query itself, and its entry is more like the query than the others are."""
    query = "will the rain of tomorrow reach my laundry in Bergamo"
    text = "Shipyards: containers, steel, engines and software, which cranes reach in the rain."
    others = [entry(f"a/{number}", text) for number in range(KEPT)]
    near = claiming(entry("b/near", "Showers, wind and storms of the next days."), [query])
    assert found(our_index([*others, near]), query) == [each.name for each in others]
    assert found(our_index([*others[1:], near]), query) == [*(each.name for each in others[1:]), "b/near"]
    # The text of an entry decides whether it gets an empty place.
    far = claiming(entry("b/far", "Sends mail and invoices."), [query])
    assert found(our_index([*others[1:], far]), query) == [each.name for each in others[1:]]


TOPICS = {
    "weather": "rain snow wind storm forecast temperature humidity thunder",
    "music": "song melody album guitar playlist concert orchestra lyrics",
    "finance": "stock bond dividend portfolio broker ledger currency tax",
    "cooking": "recipe oven butter flour spice soup dinner pastry",
    "travel": "hotel flight luggage itinerary passport museum beach cruise",
    "health": "doctor symptom medicine allergy clinic vaccine nurse sleep",
}


def test_stuffed_manifests_gain_no_place() -> None:
    """120 entries claim queries near their own topic: the first hits of 150 queries stay as they are."""
    random = Random(3)

    def some(topic: str, count: int) -> str:
        return " ".join(random.sample(TOPICS[topic].split(), count))

    entries = [entry(f"{topic}/{n:02}", f"A {topic} server: {some(topic, 3)}.") for topic in TOPICS for n in range(40)]
    queries = [(topic, f"{some(topic, 2)} {some(other, 2)} yesterday") for topic in TOPICS for other in [*TOPICS] * 4]
    stuffed = random.sample(entries, 120)
    near = {each.name: [query for topic, query in queries if each.name.startswith(topic)] for each in stuffed}
    claimed = {each.name: claiming(each, random.sample(near[each.name], MAX_QUERIES)) for each in stuffed}
    before, after = our_index(entries), our_index([claimed.get(each.name, each) for each in entries])
    assert sum(len(claims(each)) for each in claimed.values()) > 300
    assert [found(after, query) for _, query in queries] == [found(before, query) for _, query in queries]


def test_half_of_the_entries_of_the_evaluation_are_held_back() -> None:
    work, held = (read_made([half]) for half in HALVES)
    assert len(work) == len(held) == 32
    assert {len(made.queries) for made in [*work, *held]} == {3}
    assert len({query for made in [*work, *held] for query in made.queries}) == 192
