"""Long texts: the request in them is searched, and words beside it; the page says what was searched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.entries import PUBLISHER
from directory_server.domain.search import Query
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index.view import View
from directory_server.search.query import condensing
from directory_server.search.query.condensing import MAX_BESIDE, MAX_LENGTH, MAX_SENTENCE, parse_long
from tests.contract.index import additions, make_entry

from . import RecordingOffload, index_of, plan_of, search, search_names

pytestmark = pytest.mark.slow

LONGEST = 4_096

BRIEFS = {
    "org.example/weather": "Weather forecasts and alerts for any city",
    "org.example/invoices": "Creates invoices and sends them to customers",
    "org.example/database": "Queries PostgreSQL databases",
    **{f"org.example/weather-{number}": "Forecasts of the weather" for number in range(4)},
    **{f"org.example/other-{number}": "Something else for the company" for number in range(40)},
}

CHATTER = (
    "You are an assistant in the north of England. My manager asked me to write down what we would like to have before "
    "the end of the month. There was a long discussion yesterday, and everybody had another opinion. Please keep in "
    "mind that nobody here has done this before. The last attempt failed because nobody had the time to finish it. "
)


@pytest.fixture(scope="module")
def index() -> ImpactIndex:
    red = make_entry("org.example/red", "Weather", _meta={PUBLISHER: {"tags": ["red"]}})
    return index_of(red, *(make_entry(name, brief) for name, brief in BRIEFS.items()))


def parsed(index: ImpactIndex, text: str) -> tuple[str, list[str], str]:
    """Return the words of the request in a long text, the words beside it, and what is searched."""
    request, beside, searched = parse_long(text, index.snapshot.view(None))
    return " ".join(part for parts, _ in request.runs for part in parts), list(beside), searched


@pytest.mark.parametrize("before", [0, 1, 4, 9])
@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("I need a forecast of the weather", "org.example/weather"),
        ("Do I need an umbrella tomorrow", "org.example/weather"),
        ("We want to send invoices to our customers", "org.example/invoices"),
    ],
)
def test_a_request_is_found_anywhere_in_a_long_text(index: ImpactIndex, before: int, request_: str, name: str) -> None:
    text = f"{CHATTER * before}{request_}. {CHATTER * (9 - before)}"[:LONGEST]
    page = search(index, text)
    assert page.hits[0].name.startswith(name)
    assert page.searched_for.startswith(request_)


def test_a_short_query_is_searched_as_it_is(index: ImpactIndex) -> None:
    assert search(index, "weather " * 32).searched_for == ""
    assert search(index, "weather " * 33).searched_for != ""


def test_a_sentence_that_denies_is_no_request(index: ImpactIndex) -> None:
    text = f"{CHATTER} We do not need invoices or customers. Find me a server for PostgreSQL databases. {CHATTER}"
    assert parsed(index, text)[0] == "find me a server for postgre sql databases"
    assert search_names(index, text)[0] == "org.example/database"


def test_rare_words_of_the_other_sentences_are_searched_beside_the_request(index: ImpactIndex) -> None:
    text = f"{CHATTER * 2} We use PostgreSQL a lot. I need a tool that finds the weather. {CHATTER}"
    _, beside, searched = parsed(index, text)
    assert beside == ["postgresql"]
    assert searched == "I need a tool that finds the weather postgresql"
    page = search(index, text)
    assert page.searched_for == searched
    assert page.hits[0].name.startswith("org.example/weather")
    # They are no part of what has to be answered.
    assert page.match == "strong"


def test_filters_of_a_long_text_are_kept_and_hyphens_exclude_nothing(index: ImpactIndex) -> None:
    assert search_names(index, f"{CHATTER * 5} The weather. {CHATTER * 5} tag:red") == ["org.example/red"]
    assert search_names(index, f"{CHATTER * 5} A forecast of the weather. Use -v and -weather")[0].startswith(
        "org.example/weather"
    )


def test_the_last_word_is_complete(index: ImpactIndex) -> None:
    request, _, _ = parse_long(f"{CHATTER * 5} Forecasts of the weath", index.snapshot.view(None))
    assert request.is_complete


HOSTILE = {
    "no letters": ".,-_/ " * 700,
    "one word": "a" * LONGEST,
    "letters": "a b c " * 700,
    "sentences of one letter": "a. " * 1_400,
    "lines": "\n" * LONGEST,
    "distinct sentences": " ".join(f"Sentence number {number}." for number in range(200)),
    "characters that stand for eighteen": "\ufdfa" * LONGEST,
    "lone surrogates": "\ud800 " * 2_000,
    "quotes": '"' * LONGEST,
    "an open quote": 'tag:"' * 800,
    "filters": "tag:x " * 680,
    "a run of Chinese": "天气" * 2_048,
    "exclusions": "-weather " * 450,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_are_bounded(index: ImpactIndex, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[str] = []
    weight = condensing._weight

    def counted(sentence: str, view: View) -> float:
        weighed.append(sentence)
        return weight(sentence, view)

    monkeypatch.setattr(condensing, "_weight", counted)
    text = HOSTILE[kind][:LONGEST]
    _, beside, searched = parsed(index, text)
    assert len(beside) <= MAX_BESIDE
    assert len(searched) <= MAX_SENTENCE + MAX_LENGTH + 66 * MAX_BESIDE
    assert sum(map(len, weighed)) <= LONGEST
    search(index, text)


@given(st.text(min_size=MAX_LENGTH + 1, max_size=1_000))
def test_any_long_text_is_searched(text: str) -> None:
    index = index_of(make_entry("org.example/mail", "Mail"))
    assert parsed(index, text) == parsed(index, text)
    search(index, text)


def test_long_texts_are_read_in_a_thread() -> None:
    index = ImpactIndex(inline, searches=(offload := RecordingOffload()))
    run_sync(index.apply(additions(make_entry("org.example/weather"))))
    run_sync(index.search(Query("weather " * 32)))
    assert not offload.functions
    assert run_sync(index.search(Query("weather " * 33))).hits[0].name == "org.example/weather"
    assert len(offload.functions) == 1
    assert plan_of(index, "weather").searched_for == ""
