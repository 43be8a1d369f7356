"""Words of a query that entries write as two."""

from __future__ import annotations

import pytest

from bench.engines.explanation import explain
from directory_server.domain.search import Query
from directory_server.search.query.spelling import MAX_FREQUENCY
from directory_server.search.query.terms import MAX_SPLITS, MIN_KNOWN
from tests.contract.index import make_entry

from . import index_of, search_names

LIVE = [make_entry(f"io.github.a{n}/music-{n}", "Controls Ableton Live") for n in range(6)]
OTHERS = [make_entry(f"org.example/{n}", "Something else") for n in range(60)]


@pytest.mark.parametrize("query", ["abletonlive", "abletonlive music"])
def test_joined_words_find_entries_that_separate_them(query: str) -> None:
    index = index_of(*LIVE, make_entry("org.example/other", "Ableton and more"), *OTHERS)
    assert set(search_names(index, query)[:6]) == {f"io.github.a{n}/music-{n}" for n in range(6)}
    assert "ableton + live" in explain(index, Query(query, 1))


def test_joined_words_also_find_entries_that_join_them() -> None:
    index = index_of(*LIVE, make_entry("org.example/joined", "Controls abletonlive"), *OTHERS)
    assert len(search_names(index, "abletonlive")) == 7


def test_words_that_are_together_by_chance_are_no_compound() -> None:
    entries = [make_entry(f"org.example/x{n}", "Content" if n % 2 else "Full") for n in range(40)]
    entries += [make_entry(f"org.example/y{n}", "Full content") for n in range(4)]
    index = index_of(*entries, *OTHERS)
    assert "content + full" not in explain(index, Query("contentfull", 1))


@pytest.mark.usefixtures("large_collection")
def test_a_misspelt_name_is_no_compound_of_words_that_few_entries_have() -> None:
    entries = [make_entry(f"org.example/x{n}", "Hubs") for n in range(4)]
    entries += [make_entry(f"org.example/y{n}", "Language pt") for n in range(4)]
    entries += [make_entry(f"org.example/z{n}", "Hubs in pt") for n in range(MIN_KNOWN - 1)]
    index = index_of(make_entry("org.example/crm", "Reads HubSpot"), *entries, *OTHERS)
    assert search_names(index, "hubspt")[0] == "org.example/crm"


def test_frequent_word_is_no_compound() -> None:
    entries = [make_entry(f"org.example/x{n}", "Abletonlive") for n in range(MAX_FREQUENCY)]
    together = [make_entry(f"org.example/y{n}", "Ableton Live") for n in range(MAX_FREQUENCY + 10)]
    assert "ableton + live" not in explain(index_of(*entries, *together, *OTHERS), Query("abletonlive", 1))
    assert "ableton + live" in explain(index_of(*entries[1:], *together, *OTHERS), Query("abletonlive", 1))


def test_few_words_of_a_query_are_split() -> None:
    index = index_of(*LIVE, *OTHERS)
    unknown = " ".join(f"unknown{letter}" for letter in "abcdefgh"[:MAX_SPLITS])
    assert "ableton + live" in explain(index, Query(f"abletonlive {unknown}", 1))
    assert "ableton + live" not in explain(index, Query(f"{unknown} abletonlive", 1))


@pytest.mark.usefixtures("large_collection")
def test_name_written_as_one_word_comes_before_the_name_written_as_two() -> None:
    two = [make_entry(f"io.github.a{n}/ground-truth-{n}", "Ground truth") for n in range(6)]
    index = index_of(
        *two, make_entry("io.github.a/ground-truth", "Rocks"), make_entry("io.github.b/groundtruth", "Rocks"), *OTHERS
    )
    names = search_names(index, "groundtruth")
    assert names[:2] == ["io.github.b/groundtruth", "io.github.a/ground-truth"]
    assert "groundtruth or groundtruth… or ground + truth" in explain(index, Query("groundtruth", 1))
