"""Likeness: documents that mean what the query means come first, and pages follow one another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from attrs import evolve

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.search import Likeness, Query
from directory_server.search import ImpactIndex, entry_key
from directory_server.search.tables.word_vectors import (
    DIMENSIONS,
    KEY_BYTES,
    UNKNOWN,
    query_vector,
    text_vector,
    word_vectors,
)
from directory_server.search.text import runs
from tests.contract.index import make_entry

from . import OTHERS, all_ids, index_of, plan_of, search, search_names

pytestmark = pytest.mark.slow

LIKED, MAX_LIKED = 100, 512
"""Documents that may gain, at least and, if many are equal, at most."""


def terms(text: str) -> list[str]:
    return word_vectors().terms_of(runs(text, humps=False))


def likeness(one: str, other: str) -> float:
    """Return the cosine of the vectors of two texts."""
    first, second = (
        np.frombuffer(text_vector(dict.fromkeys(terms(text), 1.0)), np.int8).astype(float) for text in (one, other)
    )
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def test_the_table_is_in_order() -> None:
    table = word_vectors()
    assert table.vectors.shape == (len(table.words), DIMENSIONS)
    assert (table.words.texts[1:] > table.words.texts[:-1]).all()
    assert table.words.width == KEY_BYTES
    assert (table.weights > 0).all()
    assert np.isfinite(table.weights).all()


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("weather forecast", "rain and temperature tomorrow", "invoices and payments"),
        ("天气预报", "weather forecast", "invoices and payments"),
        ("Rechnungen bezahlen", "pay invoices", "weather forecast"),
        ("who said what in a meeting", "transcripts of calls with speakers", "stock prices"),
    ],
)
def test_texts_of_like_meaning_are_near(text: str, near: str, far: str) -> None:
    assert likeness(text, near) > likeness(text, far) + 0.1


def test_runs_without_spaces_are_split_into_the_longest_known_words() -> None:
    assert terms("天气预报") == ["天气预报"]
    assert terms("数据库管理") == ["数据库", "管理"]


def test_a_longer_word_than_any_of_the_table_is_unknown() -> None:
    longest = max(word_vectors().words.texts.tolist(), key=len).decode()
    assert text_vector({longest: 1.0}) != UNKNOWN
    assert text_vector({f"{longest}{'x' * KEY_BYTES}": 1.0, "\ud800": 1.0}) == UNKNOWN
    assert query_vector([], {}) is None


def make_index(count: int) -> ImpactIndex:
    """Return an index of `count` entries that the query matches equally by its words, and one that is like it."""
    texts = ("tax declarations", "guitar chords", "football results", "satellite images")
    entries = [
        make_entry(f"org.example/entry-{number:03}", f"Plan for an umbrella and {texts[number % 4]}")
        for number in range(count)
    ]
    return index_of(*entries, make_entry("org.example/zz", "Plan for an umbrella and rain, weather, storms"))


@pytest.mark.parametrize(
    ("query", "like", "other"),
    [
        (
            "violin rehearsal",
            "the orchestra, concert halls, strings, musicians, scores and pupils of the school",
            "the warehouse, taxes, plumbing, invoices, trucks and pallets of the company",
        ),
        (
            "ledger of quartz",
            "minerals, gemstones, crystals, rocks, geology, mines and museums of stones",
            "football, recipes, holidays, hotels, kitchens, soup and vegetables of farms",
        ),
    ],
)
def test_an_entry_of_like_meaning_comes_first(query: str, like: str, other: str) -> None:
    """Both have the words of the query."""
    for one, two in ("ab", "ba"):
        texts = (make_entry(f"org.example/{name}", f"A {query}: {text}") for name, text in ((one, like), (two, other)))
        assert search_names(index_of(*texts, *OTHERS), query)[0] == f"org.example/{one}"


def test_a_query_of_one_word_or_of_unknown_words_is_ranked_by_words_alone() -> None:
    index = make_index(8)
    assert plan_of(index, "umbrella plan").vector is not None
    assert plan_of(index, "umbrella qqxyz zzyzx wwqqq").vector is plan_of(index, "qqxyz umbrellas zzyzx").vector is None


def preferring(name: str) -> Likeness:
    """Return a likeness by which only the entry `name` means what the query means."""
    key = entry_key(mcp_id_of(name))
    return lambda entries: [float(entry == key) for entry in entries]


@pytest.mark.parametrize("keywords", ["umbrella plan", "umbrella zzyzx plan qqxyz unknownword"])
def test_a_likeness_that_comes_with_the_query_counts(keywords: str) -> None:
    index = make_index(50)
    name = "org.example/entry-031"
    page = search(index, keywords, likeness=preferring(name))
    # The first one has a concept of the query.
    assert page.hits[1].mcp_id == mcp_id_of(name)
    assert search(index, keywords).hits[1].mcp_id != mcp_id_of(name)


@pytest.mark.parametrize("limit", [7, 60, 100])
@pytest.mark.parametrize("with_likeness", [False, True])
@pytest.mark.parametrize(("keywords", "count"), [("umbrella plan", 301), ("umbrella plan -guitar", 226)])
def test_pages_have_each_hit_once(limit: int, with_likeness: bool, keywords: str, count: int) -> None:
    index = make_index(3 * LIKED)
    name = search(index, keywords, 60).hits[40].server_name
    query = Query(keywords, 100, likeness=preferring(name) if with_likeness else None)
    whole = all_ids(index, query)
    assert len(whole) == len(set(whole)) == count
    assert all_ids(index, evolve(query, limit=limit)) == whole


def test_only_the_first_hits_may_gain() -> None:
    index, asked = make_index(9 * LIKED), list[int]()

    def likeness(entries: Sequence[int]) -> Sequence[float]:
        asked.extend(entries)
        return [0.5] * len(entries)

    found = all_ids(index, Query("umbrella plan", 1_000, likeness=likeness))
    assert LIKED <= len(asked) == len({*asked}) <= MAX_LIKED
    assert len(found) == len({*found}) == 9 * LIKED + 1


def test_an_unknown_likeness_changes_nothing() -> None:
    index = make_index(50)
    unknown = search(index, "umbrella plan", likeness=lambda entries: None)
    assert [hit.mcp_id for hit in unknown.hits] == [hit.mcp_id for hit in search(index, "umbrella plan").hits]


def test_the_likeness_of_a_name_is_not_asked_for() -> None:
    def fail(entries: Sequence[int]) -> Sequence[float]:
        raise AssertionError

    index = make_index(8)
    search(index, "org.example/entry-003", likeness=fail)
    search(index, "umbrella plan", sort="stars", until=1, likeness=lambda entries: None)


def test_an_extreme_likeness_is_bounded() -> None:
    index = make_index(50)
    page = search(index, "umbrella plan", likeness=lambda entries: [1e300 * (-1) ** n for n in entries])
    assert page.next is None or np.isfinite(page.next.score)
    assert len(page.hits) == 50


@pytest.mark.skipif(not os.path.isdir("/proc/self/task") or os.cpu_count() == 1, reason="Linux with processors")
def test_products_of_vectors_start_no_threads() -> None:
    """A search would wait for the threads of other processors, on the reactor's thread."""
    program = "import os, directory_server.search; print(len(os.listdir('/proc/self/task')))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
