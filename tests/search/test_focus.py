"""Focus: of entries with the words of a query, those whose descriptions have little else come first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import evolve

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index import arrays
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from directory_server.search.ranking import feedback
from directory_server.search.ranking.scoring import score_documents
from tests.contract.index import additions, make_entry

from . import using

FOCUSED = make_entry("org.example/a", "Invoices of suppliers")
BROAD = make_entry("org.example/b", "Invoices, suppliers, payroll, warehouses, recruiting, taxes, marketing campaigns")
FILLERS = [make_entry(f"org.example/filler-{n}", f"Something else {n}") for n in range(30)]


def index_of(*entries: Any) -> ImpactIndex:
    index = ImpactIndex(inline)
    run_sync(index.apply(additions(*entries, *FILLERS)))
    return index


def gains(index: ImpactIndex, keywords: str) -> list[float]:
    """Return what focus multiplies the score of each document by."""
    collection, live = index.snapshot.collection, index.snapshot.live(None)
    pinned = [part.pinned for part in index.snapshot.parts]
    plan = build_plan(parse(keywords), collection)
    (raised,) = score_documents(plan, collection, live, pinned)
    (plain,) = score_documents(evolve(plan, allows_focus=False), collection, live, pinned)
    before = dict(zip(*map(Sequence.__iter__, map(list, plain)), strict=True))
    return [float(score / before[doc_id]) for doc_id, score in zip(*raised, strict=True)]


@pytest.mark.parametrize("kernel", dict.fromkeys([None, arrays.engine]))
def test_a_description_that_the_query_covers_gains(kernel: Any) -> None:
    with using(kernel):
        focused, broad = gains(index_of(FOCUSED, BROAD), "suppliers invoices")
    assert focused > broad > 1


@pytest.mark.parametrize("kernel", dict.fromkeys([None, arrays.engine]))
def test_words_outside_of_the_description_gain_nothing(kernel: Any) -> None:
    entry = make_entry("org.example/invoices-of-suppliers", "Bookkeeping")
    with using(kernel):
        assert gains(index_of(entry), "suppliers invoices") == [1]


@pytest.mark.parametrize("keywords", ["invoices", "supplier invoices self-hosted", "invoices suppliers official:false"])
def test_one_word_conditions_and_filters_have_no_focus(keywords: str) -> None:
    assert set(gains(index_of(FOCUSED, BROAD), keywords)) == {1}


def test_the_terms_of_a_concept_cover_a_description() -> None:
    index = index_of(
        make_entry("org.example/a", "Forecast of weather"), make_entry("org.example/b", "Umbrellas, tomorrow")
    )
    forecast, _ = gains(index, "umbrella for tomorrow")
    assert forecast > 1.5


def test_lists_in_another_order_have_as_many_entries() -> None:
    many = [make_entry(f"org.example/many-{n}", f"Invoices of suppliers {n}") for n in range(20)]
    rest = [make_entry(f"org.example/rest-{n}", "Bookkeeping of " + "many other things " * n) for n in range(5)]
    index = index_of(*many, *rest)
    pages = [
        run_sync(index.search(Query("invoices suppliers bookkeeping", 50, sort=sort))) for sort in ("stars", "updated")
    ]
    assert {len(page.hits) for page in pages} == {25}


@pytest.mark.parametrize("kernel", dict.fromkeys([None, arrays.engine]))
def test_of_many_equal_entries_only_the_better_ones_gain(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "FOCUSED", 4)
    equal = [make_entry(f"org.example/equal-{n}", "Invoices of suppliers") for n in range(8)]
    best = make_entry("org.example/best", "Suppliers, invoices", title="Suppliers")
    with using(kernel):
        found = gains(index_of(best, *equal), "suppliers invoices")
    # The second and the further copies of a description have lower priors than the first one.
    assert sorted(gain > 1 for gain in found) == [False] * 6 + [True] * 3
