"""Reasons of hits: the conditions of the query that they satisfy."""

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
    found = hits.reasons()
    return dict(zip((hit.name for hit in hits), found, strict=True)) if found else {}


async def make_index() -> ImpactIndex:
    # Several segments, each with hits.
    index = ImpactIndex(inline, (1, 4))
    sky = make_entry("org.example/sky", "Weather forecast. No API key, self-hosted, offline, read-only.")
    for change in additions(make_entry("org.example/rain", "Weather forecast"), sky, *OTHERS):
        await index.apply([change])
    await index.apply(additions(make_entry("org.example/shop", "Sells an umbrella")))
    return index


@awaited
async def test_a_hit_has_the_conditions_that_it_satisfies() -> None:
    found = await reasons(await make_index(), "do I need an umbrella, no api key, self-hosted")
    assert found == {"org.example/sky": "no key needed, self-hosted", "org.example/rain": "", "org.example/shop": ""}


@awaited
async def test_words_are_no_reason() -> None:
    assert await reasons(await make_index(), "weather") == {}
    assert await reasons(await make_index(), "do I need an umbrella") == {}


@awaited
async def test_a_page_has_the_reasons_of_its_hits() -> None:
    assert await reasons(await make_index(), "weather self-hosted", limit=1) == {"org.example/sky": "self-hosted"}
    assert await reasons(await make_index(), "umbrella in rust") == {}


@awaited
async def test_a_hit_has_at_most_three_reasons() -> None:
    found = await reasons(await make_index(), "weather self-hosted, no api key, offline, read-only")
    assert found["org.example/sky"].count(",") == 2
