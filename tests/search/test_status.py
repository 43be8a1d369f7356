"""Entries that their registry lists as deprecated: their hits and their rank."""

from __future__ import annotations

import pytest

from directory_server.domain.entries import OFFICIAL, PUBLISHER, Entry
from directory_server.domain.search import Query
from directory_server.domain.views import Hit
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.serialization import found_page
from tests.contract.index import additions, make_entry

OTHERS = [make_entry(f"org.example/{number}", f"Something else {number}") for number in range(40)]


def entry(name: str, brief: str = "Forecasts of the weather for any city", **official: object) -> Entry:
    return Entry({"name": name, "version": "1", "description": brief}, {OFFICIAL: official}, is_official=True)


def hits(keywords: str, *entries: Entry) -> list[Hit]:
    index = ImpactIndex(inline)
    run_sync(index.apply(additions(*entries, *OTHERS)))
    return list(run_sync(index.search(Query(keywords))).hits)


@pytest.mark.parametrize("status", ["deprecated", "deleted", "odd"])
def test_an_equal_entry_that_is_not_active_ranks_lower(status: str) -> None:
    # Equal scores are ordered by name, so the deprecated one would be the first.
    found = hits("weather forecast", entry("com.a/sky", status=status), entry("com.b/sky", status="active"))
    assert [hit.server_name for hit in found] == ["com.b/sky", "com.a/sky"]


@pytest.mark.parametrize(
    "said",
    [
        {"repository": {"url": "https://github.com/a/servers-archived", "source": "github"}},
        {"_meta": {PUBLISHER: {"categories": ["Weather", "Archived"]}}},
        {"_meta": {PUBLISHER: {"tags": ["unmaintained"]}}},
    ],
)
def test_an_equal_entry_that_nobody_maintains_ranks_lower(said: dict[str, object]) -> None:
    old = make_entry("com.a/sky", "Forecasts of the weather for any city", **said)
    kept = make_entry("com.b/sky", "Forecasts of the weather for any city", repository={"url": "https://x.org/archive"})
    assert (old.is_retired, kept.is_retired) == (True, False)
    assert [hit.server_name for hit in hits("weather forecast", old, kept)] == ["com.b/sky", "com.a/sky"]


@pytest.mark.parametrize(
    ("brief", "is_retired"),
    [
        ("DEPRECATED: use com.b/sky instead.", True),
        ("[Deprecated] Forecasts", True),
        ("Deprecated - moved to com.b/sky", True),
        ("DEPRECATED v0.6.0 — use com.b/sky", True),
        ("Archived", True),
        ("Archived web pages", False),
        ("Deprecated-code finder", False),
        ("Finds deprecated: models", False),
    ],
)
def test_a_description_that_begins_with_the_state_tells_it(brief: str, is_retired: bool) -> None:
    assert make_entry("com.a/sky", brief).is_retired == is_retired


def test_a_deprecated_entry_that_matches_better_is_the_first() -> None:
    old = entry("com.a/weather", status="deprecated")
    found = hits("weather forecast for a city", entry("com.b/notes", "Notes about the weather"), old)
    assert found[0].server_name == "com.a/weather"
    assert hits("com.a/weather", entry("com.b/weather"), old)[0].server_name == "com.a/weather"


def test_hits_have_the_status_and_the_cleaned_message() -> None:
    message = "Use com.b/sky.\u202e\n\x1b[31m" + "x" * 2_000
    (hit,) = hits("weather", entry("com.a/sky", status="deprecated", statusMessage=message))
    assert hit.status == "deprecated"
    assert hit.status_message.startswith("Use com.b/sky.")
    assert len(hit.status_message) <= 500
    assert hit.status_message.isprintable()


def test_the_message_of_an_active_entry_is_ignored() -> None:
    (hit,) = hits("weather", entry("com.a/sky", status="active", statusMessage="Install me first"))
    assert (hit.status, hit.status_message) == ("active", "")


@pytest.mark.parametrize("official", [{}, {"status": 5, "statusMessage": ["x"]}, {"status": ""}])
def test_invalid_values_are_active(official: dict[str, object]) -> None:
    (hit,) = hits(
        "weather", Entry({"name": "com.a/sky", "version": "1", "description": "weather"}, {OFFICIAL: official})
    )
    assert (hit.status, hit.status_message) == ("active", "")


def test_tools_have_the_status_of_entries_that_are_not_active() -> None:
    index = ImpactIndex(inline)
    old = entry("com.a/sky", status="deprecated", statusMessage="Moved")
    run_sync(index.apply(additions(old, entry("com.b/sky"), *OTHERS)))
    page = found_page(run_sync(index.search(Query("weather"))).hits)
    assert page.count(b'"status":"deprecated","status_message":"Moved"') == 1
    assert page.count(b'"status"') == 1
