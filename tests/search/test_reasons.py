"""Reasons of hits: the words by which they answer a query in other words, and conditions that they satisfy."""

from __future__ import annotations

import pytest

from directory_server.domain.entries import PUBLISHER
from directory_server.domain.search import Query
from directory_server.search import ImpactIndex
from tests.contract import awaited
from tests.contract.index import additions, make_entry

from . import inline

OTHERS = [make_entry(f"org.example/{number}", "Something else") for number in range(20)]


async def reasons(index: ImpactIndex, keywords: str, limit: int = 50) -> dict[str, str]:
    """Return the reason of each hit, by its name; nothing if no hit has one."""
    hits = (await index.search(Query(keywords, limit))).hits
    found = hits.reasons()
    return dict(zip((hit.name for hit in hits), found, strict=True)) if found else {}


async def make_index() -> ImpactIndex:
    # Several segments, each with hits.
    index = ImpactIndex(inline, (1, 4))
    sky = make_entry("org.example/sky", "Weather forecast. No API key, self-hosted.")
    for change in additions(make_entry("org.example/rain", "Weather forecast"), sky, *OTHERS):
        await index.apply([change])
    await index.apply(additions(make_entry("org.example/shop", "Sells an umbrella")))
    return index


@awaited
async def test_a_hit_has_its_words_and_the_conditions_that_it_satisfies() -> None:
    found = await reasons(await make_index(), "do I need an umbrella, no api key, self-hosted")
    assert found == {
        "org.example/sky": "weather, no key needed, self-hosted",
        "org.example/rain": "weather",
        "org.example/shop": "",
    }


@awaited
async def test_the_words_of_the_query_are_no_reason() -> None:
    assert await reasons(await make_index(), "weather") == {}
    found = await reasons(await make_index(), "weather without api key")
    assert found == {"org.example/sky": "no key needed", "org.example/rain": ""}


@awaited
async def test_a_page_has_the_reasons_of_its_hits() -> None:
    assert await reasons(await make_index(), "weather self-hosted", limit=1) == {"org.example/sky": "self-hosted"}


ERRORS = {
    "org.example/github": ("Issues, pull requests and bugs of repositories", "bugs"),
    "org.example/sentry": ("Sentry", "sentry"),
    "org.example/tracker": ("Error-tracking for teams", "error-tracking"),
    "org.example/apart": ("Tracking of parcels, and a log of errors. Debugs bugsnag", ""),
    "org.example/other": ("Something else", ""),
}
"""Descriptions, and the word by which an entry answers a search for crash reports."""


@awaited
async def test_a_reason_is_a_word_of_the_entry() -> None:
    index = ImpactIndex(inline)
    await index.apply(additions(*(make_entry(name, brief) for name, (brief, _) in ERRORS.items())))
    found = await reasons(index, "app keeps crashing")
    assert found == {name: ERRORS[name][1] for name in found}
    assert found.keys() >= {name for name, (_, word) in ERRORS.items() if word}


@awaited
async def test_words_of_tools_only_are_no_reason() -> None:
    index = ImpactIndex(inline)
    meta = {PUBLISHER: {"tools": [{"name": "list_bugs"}]}}
    await index.apply(additions(make_entry("org.example/code", "Source code", _meta=meta), *OTHERS))
    assert [hit.name for hit in (await index.search(Query("app keeps crashing"))).hits] == ["org.example/code"]
    assert await reasons(index, "app keeps crashing") == {}


@pytest.mark.parametrize("text", ["bug " * 1_000, "bug-" * 1_000, "Bug" + "\u0301" * 500, "bug" * 500 + " bug"])
@awaited
async def test_reasons_of_hostile_texts_are_short(text: str) -> None:
    index = ImpactIndex(inline)
    await index.apply(additions(make_entry("org.example/one", text), *OTHERS))
    assert await reasons(index, "app keeps crashing") == {"org.example/one": "bug"}
