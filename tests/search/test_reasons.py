"""Reasons of hits: the concepts and conditions that they match."""

from __future__ import annotations

from directory_server.domain.search import Query
from directory_server.search import ImpactIndex
from tests.contract import awaited
from tests.contract.index import additions, make_entry

from . import inline

OTHERS = [make_entry(f"org.example/{number}", "Something else") for number in range(20)]


async def reasons(index: ImpactIndex, keywords: str, limit: int = 50) -> dict[str, str]:
    """Return the reason of each hit, by its name; nothing if no hit has one."""
    hits = (await index.search(Query(keywords, limit))).hits
    return dict(zip((hit.name for hit in hits), hits.reasons, strict=True)) if hits.reasons else {}


async def make_index() -> ImpactIndex:
    # Several segments, each with hits.
    index = ImpactIndex(inline, (1, 4))
    sky = make_entry("org.example/sky", "Weather forecast. No API key, self-hosted.")
    for change in additions(make_entry("org.example/rain", "Weather forecast"), sky, *OTHERS):
        await index.apply([change])
    await index.apply(additions(make_entry("org.example/shop", "Sells an umbrella")))
    return index


@awaited
async def test_a_hit_has_the_concepts_and_conditions_that_it_matches() -> None:
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
