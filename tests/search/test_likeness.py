"""Likeness: documents that mean what the query means come first, and pages follow one another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.search import Likeness, Query
from directory_server.run_sync import run_sync
from directory_server.search import ImpactIndex, entry_key
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from directory_server.search.ranking.likeness import RERANKED, with_likeness
from directory_server.search.text.analysis import words
from directory_server.search.text.word_vectors import (
    DIMENSIONS,
    KEY_BYTES,
    UNKNOWN,
    query_vector,
    text_vector,
    word_vectors,
)
from tests.contract.index import make_entry

from . import index_of, search_names


def terms(text: str) -> list[str]:
    return word_vectors().terms_of(words(text, humps=False))


def likeness(one: str, other: str) -> float:
    """Return the cosine of the vectors of two texts."""
    first, second = (
        np.frombuffer(text_vector(dict.fromkeys(terms(text), 1.0)), np.int8).astype(float) for text in (one, other)
    )
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def test_the_table_is_in_order() -> None:
    table = word_vectors()
    assert table.vectors.shape == (len(table.words), DIMENSIONS)
    assert (table.words[1:] > table.words[:-1]).all()
    assert table.words.dtype.itemsize == KEY_BYTES
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
    longest = max(word_vectors().words.tolist(), key=len).decode()
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


def test_an_entry_of_like_meaning_comes_first() -> None:
    assert search_names(make_index(8), "umbrella plan")[0] == "org.example/zz"


def test_a_query_of_one_word_or_of_unknown_words_is_ranked_by_words_alone() -> None:
    collection = make_index(8).snapshot.collection
    assert build_plan(parse("umbrella plan"), collection).vector is not None
    assert build_plan(parse("umbrella"), collection).vector is None


def preferring(name: str) -> Likeness:
    """Return a likeness by which only the entry `name` means what the query means."""
    key = entry_key(mcp_id_of(name))
    return lambda entries: [float(entry == key) for entry in entries]


@pytest.mark.parametrize("keywords", ["umbrella plan", "umbrella zzyzx plan qqxyz unknownword"])
def test_a_likeness_that_comes_with_the_query_counts(keywords: str) -> None:
    index = make_index(50)
    name = "org.example/entry-031"
    page = run_sync(index.search(Query(keywords, likeness=preferring(name))))
    # The first one has a concept of the query.
    assert page.hits[1].mcp_id == mcp_id_of(name)
    assert run_sync(index.search(Query(keywords))).hits[1].mcp_id != mcp_id_of(name)


@pytest.mark.parametrize("limit", [7, 60, 100])
@pytest.mark.parametrize("with_likeness", [False, True])
@pytest.mark.parametrize(("keywords", "count"), [("umbrella plan", 301), ("umbrella plan -guitar", 226)])
def test_pages_have_each_hit_once(limit: int, with_likeness: bool, keywords: str, count: int) -> None:
    index = make_index(3 * RERANKED)
    name = run_sync(index.search(Query(keywords, limit=60))).hits[40].server_name
    whole = Query(keywords, limit=100, likeness=preferring(name) if with_likeness else None)
    query: Query | None = evolve(whole, limit=limit)
    paged: list[str] = []
    while query is not None:
        page = run_sync(index.search(query))
        paged += [hit.mcp_id for hit in page.hits]
        query = evolve(query, after=page.next) if page.next else None
    assert (mcp_id_of(name) in paged[:2]) == with_likeness
    assert len(paged) == len(set(paged)) == count
    assert paged[:100] == [hit.mcp_id for hit in run_sync(index.search(whole)).hits]


def test_an_unknown_likeness_changes_nothing() -> None:
    index = make_index(50)
    without = run_sync(index.search(Query("umbrella plan")))
    unknown = run_sync(index.search(Query("umbrella plan", likeness=lambda entries: None)))
    assert [hit.mcp_id for hit in unknown.hits] == [hit.mcp_id for hit in without.hits]


def test_the_likeness_of_a_name_is_not_asked_for() -> None:
    def fail(entries: Sequence[int]) -> Sequence[float]:
        raise AssertionError

    index = make_index(8)
    run_sync(index.search(Query("org.example/entry-003", likeness=fail)))
    run_sync(index.search(Query("umbrella plan", sort="stars", until=1, likeness=lambda entries: None)))


def test_an_extreme_likeness_is_bounded() -> None:
    index = make_index(50)
    page = run_sync(index.search(Query("umbrella plan", likeness=lambda entries: [1e300 * (-1) ** n for n in entries])))
    assert page.next is None or np.isfinite(page.next.score)
    assert len(page.hits) == 50


@pytest.mark.skipif(not os.path.isdir("/proc/self/task") or os.cpu_count() == 1, reason="Linux with processors")
def test_products_of_vectors_start_no_threads() -> None:
    """A search would wait for the threads of other processors, on the reactor's thread."""
    program = "import os, directory_server.search; print(len(os.listdir('/proc/self/task')))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_no_document_loses_by_rounding() -> None:
    # Nothing is like the query: the vectors of all documents are empty. A lower score would repeat pages.
    rows = SimpleNamespace(vectors=np.zeros((50, 128), np.int8))
    segments: Any = [SimpleNamespace(rows=rows)]
    plan: Any = SimpleNamespace(vector=bytes([1] * 128), likeness=None, conditions=())
    hits = [(float(np.float32(10 / (3 + number))), 0, number) for number in range(50)]
    changed = with_likeness(plan, segments, hits)
    assert all(new >= old for (new, *_), (old, *_) in zip(changed, hits, strict=True))
