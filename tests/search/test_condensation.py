"""Long texts: what is searched for of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index.collection import Collection
from directory_server.search.query import cost
from directory_server.search.query.cost import MAX_LENGTH, condensed
from tests.contract.index import additions, make_entry

from . import search_names

P = ParamSpec("P")
T = TypeVar("T")

LONGEST = 4_096

BRIEFS = {
    "org.example/weather": "Weather forecasts and alerts for any city",
    "org.example/invoices": "Creates invoices and sends them to customers",
    "org.example/database": "Queries PostgreSQL databases",
    **{f"org.example/weather-{number}": "Forecasts of the weather" for number in range(4)},
    **{f"org.example/other-{number}": "Something else for the company" for number in range(20)},
}

CHATTER = (
    "You are an assistant in the north of England. My manager asked me to write down what we would like to have before "
    "the end of the month. There was a long discussion yesterday, and everybody had another opinion. Please keep in "
    "mind that nobody here has done this before. The last attempt failed because nobody had the time to finish it. "
)


@cache
def index() -> ImpactIndex:
    made = ImpactIndex(inline)
    run_sync(made.apply(additions(*(make_entry(name, brief) for name, brief in BRIEFS.items()))))
    return made


def collection() -> Collection:
    return index().snapshot.collection


@pytest.mark.parametrize("keywords", ["", "weather", "a" * MAX_LENGTH, "tag:x " * 40])
def test_short_keywords_are_unchanged(keywords: str) -> None:
    assert condensed(keywords, collection()) is keywords


@pytest.mark.parametrize("before", [0, 1, 4, 9])
@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("I need a forecast of the weather", "org.example/weather"),
        ("Do I need an umbrella tomorrow", "org.example/weather"),
        ("We want to send invoices to our customers", "org.example/invoices"),
    ],
)
def test_a_request_is_found_anywhere_in_a_long_text(before: int, request_: str, name: str) -> None:
    text = f"{CHATTER * before}{request_}. {CHATTER * (9 - before)}"[:LONGEST]
    assert len(text) > 3_000
    assert search_names(index(), text)[0].startswith(name)


def test_filters_of_a_long_text_are_kept() -> None:
    index = ImpactIndex(inline)
    meta = {"io.modelcontextprotocol.registry/publisher-provided": {"tags": ["red"]}}
    others = [make_entry(name, brief) for name, brief in BRIEFS.items()]
    run_sync(index.apply(additions(make_entry("org.example/red", "Weather", _meta=meta), *others)))
    assert search_names(index, f"{CHATTER * 5} The weather. {CHATTER * 5} tag:red") == ["org.example/red"]


def test_the_last_word_is_complete() -> None:
    found = condensed(f"{CHATTER * 5} Forecasts of the weather", collection())
    assert found == "Forecasts of the weather. "


def test_hyphens_of_a_long_text_exclude_nothing() -> None:
    assert condensed(f"{CHATTER * 3} A forecast of the weather. Use -v and -weather", collection()) == (
        "A forecast of the weather. "
    )


HOSTILE = {
    "no letters": ".,-_/ " * 700,
    "one word": "a" * LONGEST,
    "letters": "a b c " * 700,
    "sentences of one letter": "a. " * 1_400,
    "lines": "\n" * LONGEST,
    "characters that stand for eighteen": "\ufdfa" * LONGEST,
    "lone surrogates": "\ud800 " * 2_000,
    "quotes": '"' * LONGEST,
    "an open quote": 'tag:"' * 800,
    "filters": "tag:x " * 680,
    "a run of Chinese": "天气" * 2_048,
    "exclusions": "-weather " * 450,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_are_bounded(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    weighed: list[str] = []
    weight = cost._word_weight

    def counted(token: str, collection: Collection) -> float:
        weighed.append(token)
        return weight(token, collection)

    monkeypatch.setattr(cost, "_word_weight", counted)
    text = HOSTILE[kind][:LONGEST]
    assert len(condensed(text, collection())) <= MAX_LENGTH
    assert len(weighed) <= LONGEST / 3
    run_sync(index().search(Query(text)))


@given(st.text(min_size=MAX_LENGTH, max_size=1_000))
def test_any_text_is_condensed(text: str) -> None:
    assert len(condensed(text, collection())) <= MAX_LENGTH
    assert condensed(text, collection()) == condensed(text, collection())


def test_long_texts_are_condensed_in_a_thread() -> None:
    calls: list[object] = []

    async def searches(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        calls.append(function)
        return function(*args, **kwargs)

    index = ImpactIndex(inline, searches=searches)
    run_sync(index.search(Query("weather " * 32)))
    assert not calls
    run_sync(index.search(Query("weather " * 33)))
    assert len(calls) == 1
