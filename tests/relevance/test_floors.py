"""Floors of our index on the judged queries and the relevance sets, so that a loss of relevance fails a test.

The index has a sample of the real entries, because all take a minute to analyse. `bench.relevance` measures all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from bench.catalogue.files import QUERIES, REAL, read_entries, read_judged
from bench.catalogue.sets import NO_ANSWER, SETS, read_set, set_files
from bench.engines.baselines import Engine
from bench.engines.ours import our_engine, our_index
from bench.measurement.relevance_metrics import ndcg
from bench.tokens import CHARACTERS, result_tokens
from directory_server.domain.categories import categories_of
from directory_server.domain.entries import Entry
from directory_server.domain.ports.search import Index
from directory_server.domain.search import DEFAULT_LIMIT, Query
from directory_server.runtime.run_sync import run_sync
from directory_server.search.ranking.strength import KEPT
from directory_server.search.tables.word_categories import word_categories
from search_data.categories import is_held, labelled

from .first_hits import FIRST_HITS

FLOORS: Mapping[str, float] = {
    "queries": 0.88,
    "needs": 0.67,
    "cjk": 0.77,
    "other_languages": 0.79,
    "cjk_2": 0.74,
    "other_languages_2": 0.745,
    "english_2": 0.88,
    "fresh_3": 0.74,
    "fresh_4": 0.8,
    "terms_5": 0.77,
    "fresh_7": 0.78,
    "translated": 0.57,
    "sentences": 0.805,
    "capability": 0.8,
    "category": 0.91,
    "conditions": 0.88,
    "products": 0.87,
}
"""The least nDCG@10 of each file in the sample: a little below what is measured. A gain raises its floor."""

SAMPLED = 8
"""One of so many entries is in the sample, which also has those that `FIRST_HITS` names."""

MOST_UNANSWERED, MOST_WEAK, MOST_WEAK_TRANSLATED = 0.2, 0.14, 0.42
"""The greatest share of queries without an answer with more than KEPT hits, of judged queries that are weak, and of
translated ones: many of their words are in the dictionary only.

The sample lacks most entries that answer a query. Of all entries, 7 % of the judged queries are weak."""

ONE_EACH = 50
"""Queries that have one entry each in a small catalogue."""

MOST_WEAK_OF_SMALL = 0.15
"""The greatest share of these that are weak."""

LEAST_WANTED = 0.85
"""The least share of wanted entries among the first hits for names of products. A gain raises it."""

LEAST_NAMED, LEAST_CATEGORISED = 0.71, 0.67
"""The least share of derived categories that the publisher names too, and of entries that get one, among those from
which nothing was learnt. Of all of these, they are .735 and .7."""

LEAST_RIGHT = 0.85
"""The least share of derived categories that a reader of the name, title and description called right."""

READ = Path(__file__).with_name("derived_categories.tsv")
"""Entries without labels from which nothing was learnt, drawn at random from those with a derived category; the
category; and whether it is right."""

FILES = [*QUERIES, *set_files()]


@pytest.fixture(scope="module")
def entries(shared_data: Path) -> Sequence[Entry]:
    """Return the real entries."""
    return read_entries(REAL)


@pytest.fixture(scope="module")
def sample(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the sample of the entries."""
    named = {name for wanted in FIRST_HITS.values() for name in wanted}
    return [entry for number, entry in enumerate(entries) if number % SAMPLED == 0 or entry.name in named]


@pytest.fixture(scope="module")
def index(sample: Sequence[Entry]) -> Index:
    """Return our index of the sample."""
    return our_index(sample)


@pytest.fixture(scope="module")
def ours(index: Index, sample: Sequence[Entry]) -> Engine:
    """Return our engine on the sample."""
    return our_engine(index, sample)


def test_each_file_has_a_floor() -> None:
    assert set(FLOORS) == {path.stem for path in FILES}


def test_derived_categories_are_those_of_the_publisher(sample: Sequence[Entry]) -> None:
    named = [(entry, categories_of(entry.categories, entry.tags)) for entry in sample if is_held(entry)]
    rows = [labelled(entry, categories) for entry, categories in named if categories]
    derived = [(word_categories().category(row.terms, row.vector), row.categories) for row in rows]
    right = [category in categories for category, categories in derived if category]
    assert len(rows) > 500
    assert len(right) > LEAST_CATEGORISED * len(rows)
    assert fmean(right) > LEAST_NAMED


def test_derived_categories_are_right_for_a_reader(entries: Sequence[Entry]) -> None:
    verdicts = {name: (category, verdict) for name, category, verdict in map(str.split, READ.read_text().splitlines())}
    rows = [(verdicts[entry.name], labelled(entry, ())) for entry in entries if entry.name in verdicts]
    derived = [(word_categories().category(row.terms, row.vector), read) for read, row in rows]
    right = [verdict == "right" for category, (of_verdict, verdict) in derived if category == of_verdict]
    # Another category has no verdict: then readers are needed.
    assert len(right) > 0.9 * len(verdicts)
    assert fmean(right) > LEAST_RIGHT


def test_a_default_answer_has_less_than_6000_tokens(index: Index) -> None:
    queries = [each.query for path in set_files() for each in read_set(path)[::5]]
    counts = result_tokens(index, queries, DEFAULT_LIMIT, lambda text: len(text) // CHARACTERS)
    assert len(counts) > len(queries) // 2
    assert max(counts) < 6_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_relevance_is_not_below_its_floor(ours: Engine, sample: Sequence[Entry], path: Path) -> None:
    names = {entry.name for entry in sample}
    judged = read_judged(path) if path in QUERIES else [each.judged for each in read_set(path)]
    graded = [(each.q, {name: grade for name, grade in each.grades.items() if name in names}) for each in judged]
    assert fmean(ndcg(ours(query), grades) for query, grades in graded if grades) >= FLOORS[path.stem]


def test_queries_without_an_answer_have_few_hits_and_others_have_close_ones(index: Index) -> None:
    unanswered = [each.query for each in read_set(SETS / f"{NO_ANSWER}.jsonl")]
    judged = [each.q for path in QUERIES for each in read_judged(path)]
    judged += [each.query for path in set_files() if path.stem != "translated" for each in read_set(path)]
    translated = [each.query for each in read_set(SETS / "translated.jsonl")]
    pages = [run_sync(index.search(Query(query))) for query in unanswered]
    assert sum(len(page.hits) > KEPT for page in pages) <= MOST_UNANSWERED * len(pages)
    for queries, most in ((judged, MOST_WEAK), (translated, MOST_WEAK_TRANSLATED)):
        weak = sum(run_sync(index.search(Query(query))).match == "weak" for query in queries)
        assert weak <= most * len(queries)


@pytest.mark.parametrize("size", [ONE_EACH, 1_000])
def test_answers_in_a_small_catalogue_are_rarely_weak(entries: Sequence[Entry], size: int) -> None:
    """The catalogue has one entry for each query, and others."""
    by_name, random = {entry.name: entry for entry in entries}, Random(size)
    best = {
        each.query: [name for name, grade in each.grades.items() if grade == 3 and name in by_name]
        for kind in ("sentences", "capability", "category", "english_2")
        for each in read_set(SETS / f"{kind}.jsonl")
    }
    spread = [*best.items()][:: len(best) // ONE_EACH][:ONE_EACH]
    wanted = {query: random.choice(names) for query, names in spread if names}
    names = dict.fromkeys([*wanted.values(), *random.sample([*by_name], size - len(wanted))])
    index = our_index([by_name[name] for name in names])
    matches = [run_sync(index.search(Query(query))).match for query in wanted]
    assert sum(match == "weak" for match in matches) <= MOST_WEAK_OF_SMALL * len(wanted)
    unanswered = [run_sync(index.search(Query(each.query))).match for each in read_set(SETS / f"{NO_ANSWER}.jsonl")]
    assert sum(match in {"weak", "none"} for match in unanswered) >= (1 - MOST_UNANSWERED) * len(unanswered)


def test_wanted_entries_exist(entries: Sequence[Entry]) -> None:
    names = {entry.name for entry in entries}
    assert [name for wanted in FIRST_HITS.values() for name in wanted if name not in names] == []


def test_names_of_products_find_the_wanted_entries_first(ours: Engine) -> None:
    shares = {
        query: len({*wanted}.intersection(ours(query)[:3])) / min(3, len(wanted))
        for query, wanted in FIRST_HITS.items()
    }
    assert len(shares) == 30
    assert fmean(shares.values()) >= LEAST_WANTED, shares
