"""Reasons of hits: the conditions of the query that they satisfy."""

from __future__ import annotations

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from tests.contract.index import additions, make_entry

OTHERS = [make_entry(f"org.example/{number}", "Something else") for number in range(20)]


def reasons(index: ImpactIndex, keywords: str, limit: int = 50) -> dict[str, str]:
    """Return the reason of each hit, by its name; nothing if no hit has one."""
    hits = run_sync(index.search(Query(keywords, limit))).hits
    found = hits.reasons()
    return dict(zip((hit.name for hit in hits), found, strict=True)) if found else {}


def make_index() -> ImpactIndex:
    # Several segments, each with hits.
    index = ImpactIndex(inline, (1, 4))
    sky = make_entry("org.example/sky", "Weather forecast. No API key, self-hosted, offline, read-only.")
    for change in additions(make_entry("org.example/rain", "Weather forecast"), sky, *OTHERS):
        run_sync(index.apply([change]))
    run_sync(index.apply(additions(make_entry("org.example/shop", "Sells an umbrella"))))
    return index


def test_a_hit_has_the_conditions_that_it_satisfies() -> None:
    found = reasons(make_index(), "do I need an umbrella, no api key, self-hosted")
    assert found == {"org.example/sky": "no key needed, self-hosted", "org.example/rain": "", "org.example/shop": ""}


def test_words_are_no_reason() -> None:
    assert reasons(make_index(), "weather") == {}
    assert reasons(make_index(), "do I need an umbrella") == {}


def test_a_page_has_the_reasons_of_its_hits() -> None:
    assert reasons(make_index(), "weather self-hosted", limit=1) == {"org.example/sky": "self-hosted"}
    assert reasons(make_index(), "umbrella in rust") == {}


def test_a_hit_has_at_most_three_reasons() -> None:
    found = reasons(make_index(), "weather self-hosted, no api key, offline, read-only")
    assert found["org.example/sky"].count(",") == 2
