"""Scores of the compiled module: those of numpy, for the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index import arrays
from directory_server.search.index.merging import Postings
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from directory_server.search.ranking import compiled, feedback
from directory_server.search.ranking.scoring import score_documents
from tests.contract.index import additions, make_entry, search_names

from . import using
from .test_reference import QUERIES, changes_of

COMPILED = arrays.ranking
QUESTIONS = (*QUERIES, "github kubernetes no api key", "in rust weather", "天气 预报", "mail github letters weather")

pytestmark = pytest.mark.skipif(COMPILED is None, reason="the compiled module was not built")


def scores(index: ImpactIndex, keywords: str) -> list[dict[int, Any]]:
    collection, live, pinned = index._collection(index.snapshot)
    found: Sequence[Postings] = score_documents(build_plan(parse(keywords), collection), collection, live, pinned)
    return [
        {doc_id: pytest.approx(score, rel=1e-5) for doc_id, score in zip(*map(np.ndarray.tolist, each), strict=True)}
        for each in found
    ]


def set_limits(monkeypatch: pytest.MonkeyPatch, enough: int, best: int) -> None:
    """Set MIN_MATCHES and BEST."""
    for module in (feedback, compiled):
        monkeypatch.setattr(module, "MIN_MATCHES", enough)
        monkeypatch.setattr(module, "BEST", best)


def random_index(seed: int) -> ImpactIndex:
    random, index = Random(seed), ImpactIndex(inline, sizes=(2, 6))
    for seq in range(random.choice([1, 4, 9])):
        run_sync(index.apply(changes_of(random, seq)))
    return index


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("limit", [1, 3])
def test_pages_are_those_of_numpy(seed: int, limit: int) -> None:
    index = random_index(seed)
    for keywords in QUESTIONS:
        after, pages, names = None, 0, []
        while pages == 0 or after is not None:
            page = run_sync(index.search(Query(keywords, limit, after)))
            after, pages = page.next, pages + 1
            names += [hit.server_name for hit in page.hits]
        with using(None):
            whole = run_sync(index.search(Query(keywords, 100)))
        assert names == [hit.server_name for hit in whole.hits], keywords


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("enough", "best"), [(2, 3), (13, 14), (13, 100), (1_000, 1_000)])
def test_scores_are_those_of_numpy(seed: int, enough: int, best: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, enough, best)
    index = random_index(seed)
    for keywords in QUESTIONS:
        own = scores(index, keywords)
        with using(None):
            assert scores(index, keywords) == own, keywords


@pytest.mark.parametrize("kernel", dict.fromkeys([None, arrays.kernel]))
def test_feedback_adds_no_documents_where_enough_match(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    index = ImpactIndex(inline)
    entries = [make_entry(f"org.example/{n}", f"Orchestration {n} by kubectl") for n in range(15)]
    others = [make_entry(f"org.example/other-{n}", "Speaks kubectl") for n in range(5)]
    rest = [make_entry(f"org.example/rest-{n}", "Something else") for n in range(40)]
    run_sync(index.apply(additions(*entries, *others, *rest)))

    with using(kernel):
        assert "org.example/other-1" in run_sync(search_names(index, "orchestration"))
        set_limits(monkeypatch, enough=15, best=15)
        assert len(run_sync(search_names(index, "orchestration"))) == 15


def columns(documents: int = 3) -> tuple[Any, ...]:
    """Return a segment of one term, which all documents have."""
    doc_ids = np.arange(documents, dtype=np.int32)
    starts = np.array([0, documents, documents], np.uint32)
    facts = np.zeros(documents, np.uint64)
    return starts, doc_ids, np.ones(documents, np.uint16), None, facts == 0, facts.astype(np.float32), facts


def matched(segments: list[Any], parts: list[Any], concepts: Sequence[Any] = ()) -> Any:
    assert COMPILED is not None
    return COMPILED.match(segments, list(concepts), parts, [], [], [], [], 1.0, 1.0, 0.5, 0.1, 0.5)


ONE = [({0: 1.0}, 1.0, False)]


def test_arguments_are_checked() -> None:
    assert COMPILED is not None
    good = columns()
    state, count = matched([good], [(ONE, False, 1.0, [])])
    assert count == 3

    with pytest.raises(IndexError):
        matched([good], [([({-1: 1.0}, 1.0, False)], False, 1.0, [])])
    with pytest.raises(IndexError):
        matched([good], [(ONE, False, 1.0, [(0, 1.0)])])
    with pytest.raises(IndexError):
        matched([(*good[:1], good[1] + 7, *good[2:])], [(ONE, False, 1.0, [])])
    with pytest.raises(IndexError):
        matched([(good[0] + np.uint32(9), *good[1:])], [(ONE, False, 1.0, [])])
    with pytest.raises(ValueError, match="length"):
        matched([(*good[:2], good[2][:1], *good[3:])], [])
    with pytest.raises(ValueError, match="length"):
        matched([(*good[:5], good[5][:1], good[6])], [])
    with pytest.raises(TypeError):
        matched([good], [([([], 1.0, False)], False, 1.0, [])])
    with pytest.raises((TypeError, SystemError)):
        matched([None], [])
    tops = np.zeros(3, np.int32), np.zeros(3, np.uint16), np.array([0, 1, 2, 3]), np.ones(3, np.uint16)
    for segments in ([], [columns(2)], [good, good]):
        with pytest.raises(ValueError, match="other segments"):
            COMPILED.add(state, segments, [(0, 1.0)], 1.0, 0)
        with pytest.raises(ValueError, match="other segments"):
            COMPILED.shared(state, segments, [tops] * len(segments), 2, 2, 1, 3)
        with pytest.raises(ValueError, match="other segments"):
            COMPILED.focus(state, segments, [tops] * len(segments), 2, 1.0, 3)
    with pytest.raises(IndexError):
        COMPILED.add(state, [good], [(-1, 1.0)], 1.0, 0)
    starts = tops[2]
    for wrong in (
        *((*tops[:2], each, tops[3]) for each in (starts + 9, starts[:2], starts - 1)),
        *((*tops[:3], each) for each in (tops[3] + np.uint16(9), tops[3][:1])),
    ):
        with pytest.raises(ValueError, match="length"):
            COMPILED.shared(state, [good], [wrong], 3, 2, 1, 3)
        with pytest.raises(ValueError, match="length"):
            COMPILED.focus(state, [good], [wrong], 3, 1.0, 3)
    with pytest.raises(IndexError):
        COMPILED.focus(state, [good], [(tops[0] - 1, *tops[1:])], 3, 1.0, 3)
    for count, columns_of in ((0, [tops]), (3, [tops, tops])):
        with pytest.raises(ValueError, match="out of range"):
            COMPILED.focus(state, [good], columns_of, count, 1.0, 3)
    with pytest.raises(ValueError, match="out of range"):
        COMPILED.shared(state, [good], [tops], 17, 2, 1, 3)
    with pytest.raises(IndexError):
        COMPILED.add(state, [good], [(0, 1.0)], 1.0, -1)
    with pytest.raises(ValueError, match="out of range"):
        COMPILED.best(state, -1, 1.0)
    with pytest.raises(ValueError, match="PyCapsule"):
        COMPILED.results(object())
    assert COMPILED.shared(state, [good], [tops], 4, 2, 1, 3) is None


@given(st.lists(st.integers(1, 2**16 - 1), min_size=1), st.integers(1, 5))
def test_the_best_scores_are_selected(impacts: list[int], count: int) -> None:
    assert COMPILED is not None
    whole = columns(len(impacts))
    state, _ = matched([(*whole[:2], np.array(impacts, np.uint16), *whole[3:])], [(ONE, False, 1.0, [])])

    found = [impact / 2**15 for impact in sorted(impacts, reverse=True)]
    least = found[min(count, len(found)) - 1]
    expected = [score for score in found if score >= least]
    assert sorted((score for score, _, _ in COMPILED.best(state, count, np.inf)), reverse=True) == expected


def test_a_state_keeps_its_scores() -> None:
    index = ImpactIndex(inline)
    run_sync(index.apply(additions(*(make_entry(f"org.example/{n}", "Mail and letters") for n in range(30)))))
    pages = [run_sync(index.search(Query(keywords))) for keywords in ("mail", "letters", "mail")]
    assert pages[0].hits.records == pages[2].hits.records
