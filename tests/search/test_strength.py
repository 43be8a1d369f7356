"""Strength of a match: a query that nothing answers has few hits, and the page says so."""

from __future__ import annotations

import pytest

from directory_server.search import ImpactIndex
from directory_server.search.ranking import strength
from tests.contract.index import make_entry

from . import index_of, plan_of, search

KEPT = 10
"""The hits of a query without a close match."""

TOPICS = ("weather forecasts", "football results", "stock prices", "train timetables")
COUNT = 40
PHONES = [make_entry(f"org.example/server-{n:02}", f"Provides {TOPICS[n % 4]} for phones") for n in range(COUNT)]
OTHERS = [f"Agent that reads {topic} and messages about {other}" for topic in TOPICS for other in TOPICS]


@pytest.fixture(scope="module")
def index() -> ImpactIndex:
    """Return an index in several segments, in which a quarter of the entries has each topic and one repairs phones."""
    return index_of(*PHONES, make_entry("org.example/zither-tuner", "Repairs a mechanical phone"), batch=3)


def test_a_query_that_entries_answer_has_all_its_matches(index: ImpactIndex) -> None:
    page = search(index, "weather forecasts")
    assert (page.match, len(page.hits)) == ("strong", COUNT // 4)
    assert len(search(index, "phones").hits) == COUNT + 1


def test_a_query_that_nothing_answers_has_its_first_hits_only(index: ImpactIndex) -> None:
    page = search(index, "phones for the escapement of harpsichords and dulcimers")
    assert (page.match, len(page.hits), page.next) == ("weak", KEPT, None)
    assert [hit.mcp_id for hit in page.hits] == [
        hit.mcp_id for hit in search(index, "phones for the escapement of harpsichords and dulcimers", limit=4).hits
    ] + [hit.mcp_id for hit in page.hits][4:]


def test_a_part_of_the_words_is_a_partial_match(index: ImpactIndex) -> None:
    assert search(index, "football results stock prices").match == "partial"


def test_pages_of_a_weak_match_end_after_its_first_hits(index: ImpactIndex) -> None:
    keywords, names, after = "phones for the escapement of harpsichords", [], None
    for size in (4, 4, 2):
        page = search(index, keywords, limit=4, after=after)
        assert (page.match, len(page.hits)) == ("weak", size)
        names += [hit.mcp_id for hit in page.hits]
        after = page.next
    assert after is None
    assert names == [hit.mcp_id for hit in search(index, keywords).hits]


@pytest.mark.parametrize("sort", ["relevance", "stars", "updated"])
def test_total_and_orders_have_the_same_hits(index: ImpactIndex, sort: str) -> None:
    page = search(index, "phones for the escapement of harpsichords", browse=True, sort=sort)
    assert page.summary is not None
    assert (page.match, page.summary.total, len(page.hits)) == ("weak", KEPT, KEPT)


@pytest.mark.parametrize("keywords", ["org.example/zither-tuner", "zither-tuner", "zither-tun", "zither"])
def test_names_are_strong_matches(index: ImpactIndex, keywords: str) -> None:
    page = search(index, keywords)
    assert page.match == "strong"
    assert page.hits[0].server_name == "org.example/zither-tuner"


def test_a_search_without_words_is_a_strong_match(index: ImpactIndex) -> None:
    page = search(index, "", browse=True, limit=100)
    assert (page.match, len(page.hits)) == ("strong", COUNT + 1)
    assert search(index, "tag:none").match == "none"


@pytest.mark.parametrize("size", [50, 1_000])
def test_one_answer_is_enough_in_a_small_catalogue_of_any_size(size: int) -> None:
    """A small catalogue has one entry for most topics, and its words weigh less."""
    answer = make_entry("org.example/chat", "Slack tools for an agent: read channels and post messages")
    others = (make_entry(f"org.example/other-{number}", OTHERS[number % len(OTHERS)]) for number in range(size - 1))
    made = index_of(answer, *others)
    page = search(made, "post messages to a slack channel from my agent, and tell me who reads them")
    assert (page.match, page.hits[0].server_name) == ("strong", "org.example/chat")
    assert search(made, "post a letter to the harpsichord from my dulcimer").match == "weak"


def test_one_answer_of_many_entries_may_be_chance(index: ImpactIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    assert search(index, "repairs mechanical phones").match == "strong"
    monkeypatch.setattr(strength, "ENTRIES_EACH", COUNT // 5)
    assert search(index, "repairs mechanical phones").match == "weak"


def test_words_that_no_entry_has_count_by_their_rarity(index: ImpactIndex) -> None:
    assert plan_of(index, "weather forecasts").unknown == 0
    assert plan_of(index, "weather in the harpsichord").unknown == pytest.approx(index.snapshot.view(None).idf(0))


def test_a_query_in_another_language_lacks_half_as_much(index: ImpactIndex) -> None:
    english, german = "weather harpsichord dulcimer", "Wetter für Xylofonschlegel und Dudelsackpfeifen"
    assert [plan_of(index, query).language for query in (english, german)] == ["", "de"]
    assert search(index, english).strength < search(index, german).strength


def test_the_correction_of_a_known_word_covers_nothing(index: ImpactIndex) -> None:
    misspelt, other = search(index, "wether"), search(index, "leather")
    assert misspelt.strength > 0
    assert other.strength == 0
