"""Scores of the compiled module: those of numpy, for the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
from directory_server.search.ranking import compiled, coverage, feedback
from directory_server.search.ranking.feedback import _is_word
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


def columns(documents: int = 3) -> list[Any]:
    """Return the columns of a segment of one term, which all documents have."""
    doc_ids, facts = np.arange(documents, dtype=np.int32), np.zeros(documents, np.uint64)
    postings = [np.array([0, documents, documents], np.uint32), doc_ids, np.ones(documents, np.uint16), None]
    tops = [doc_ids * 0, np.zeros(documents, np.uint16), np.arange(documents + 1), np.ones(documents, np.uint16)]
    return [*postings, facts == 0, facts.astype(np.float32), facts, *tops]


WORDS = np.frombuffer(b"mail", np.uint8), np.array([0, 4], np.uint32)
ONE = [({0: 1.0}, 1.0, False)]


def plan(groups: Any = ONE, shares: Sequence[Any] = ()) -> tuple[Any, ...]:
    """Return the columns of a plan with one part."""
    return [], [(groups, False, 1.0, 0.1, list(shares))], [], [], [], [], 1.0, 1.0, 0.5, 0.5


def feedback_of(**values: Any) -> tuple[Any, ...]:
    """Return the numbers of feedback."""
    numbers: dict[str, Any] = {"hits": 2, "least_hits": 2, "least_frequency": 1, "terms": 10, "share": 0.4, "best": 0}
    numbers |= {"least_matches": 1, "letters": 3, "string": str, **values}
    return tuple(numbers.values())


def found(*segments: Sequence[Any], plan: Any = None, feedback: Any = None, focus: Any = None) -> list[Any]:
    """Return the documents and scores of a plan in segments with these columns."""
    assert COMPILED is not None
    read = COMPILED.segments([tuple(each) for each in segments], *WORDS)
    scores: list[Any] = COMPILED.scores(read, globals()["plan"]() if plan is None else plan, feedback, focus)
    return scores


def changed(place: int, column: object) -> list[Any]:
    """Return the columns of a segment, with another one at `place`."""
    return [*columns()[:place], column, *columns()[place + 1 :]]


def test_documents_of_several_segments_are_found() -> None:
    (doc_ids, _), (others, _) = found(columns(), columns(2))
    assert np.frombuffer(doc_ids, np.int32).tolist() == [0, 1, 2]
    assert np.frombuffer(others, np.int32).tolist() == [0, 1]


def test_unknown_terms_and_concepts_are_rejected() -> None:
    with pytest.raises(IndexError):
        found(columns(), plan=plan([({-1: 1.0}, 1.0, False)]))
    with pytest.raises(IndexError):
        found(columns(), plan=plan(shares=[(0, 1.0)]))
    with pytest.raises(TypeError):
        found(columns(), plan=plan([([], 1.0, False)]))


def test_columns_are_checked() -> None:
    assert COMPILED is not None
    starts, doc_ids, impacts, _, live, priors, facts, _, _, top_starts, described = columns()
    short = {2: impacts[:1], 4: live[:1], 5: priors[:1], 6: facts[:1], 7: doc_ids[:1], 8: impacts[:1]}
    for place, column in (*short.items(), (9, top_starts[:2]), (10, described[:2]), (0, starts[:0])):
        with pytest.raises(ValueError, match="length"):
            COMPILED.segments([tuple(changed(place, column))], *WORDS)
    with pytest.raises(ValueError, match="length"):
        COMPILED.segments([tuple(columns()[:-1])], *WORDS)
    with pytest.raises(ValueError, match="out of range"):
        COMPILED.segments([], WORDS[0], WORDS[1][:0])
    for wrong in (None, [None], [(None,) * 11]):
        with pytest.raises((TypeError, SystemError)):
            COMPILED.segments(wrong, *WORDS)
    for place, column in ((1, doc_ids + 7), (0, starts + np.uint32(9))):
        with pytest.raises(IndexError):
            found(changed(place, column))


@pytest.mark.parametrize("best", [0, 2])
def test_postings_of_feedback_are_checked(best: int) -> None:
    # The query has the first term, the first hits share the second.
    starts, tops = np.array([0, 3, 6, 6], np.uint32), np.ones(3, np.int32)
    ids = np.array([0, 1, 2, 0, 1, 2], np.int32)
    whole = [starts, ids, np.ones(6, np.uint16), *columns()[3:7], tops, np.ones(3, np.uint16), *columns()[9:]]
    words = np.frombuffer(b"mailpost", np.uint8), np.array([0, 4, 8], np.uint32)
    assert COMPILED is not None

    def fed(*segment: Any) -> Any:
        return COMPILED.scores(COMPILED.segments([segment], *words), plan(), feedback_of(best=best), None)

    ((_, raised),) = fed(*whole)
    ((_, plain),) = COMPILED.scores(COMPILED.segments([tuple(whole)], *words), plan(), None, None)
    assert (np.frombuffer(raised, np.float32) > np.frombuffer(plain, np.float32)).all()
    for wrong in (3, -1):
        with pytest.raises(IndexError):
            fed(whole[0], np.array([0, 1, 2, 0, 1, wrong], np.int32), *whole[2:])
        assert fed(*whole) == [(ids[:3].tobytes(), raised)]


def test_forward_lists_are_checked() -> None:
    tops, _, top_starts, described = columns()[7:]
    wrong_columns = ((9, top_starts + 9), (9, top_starts - 1), (9, top_starts * 100), (10, described + np.uint16(9)))
    for place, column in wrong_columns:
        with pytest.raises(ValueError, match="length"):
            found(changed(place, column), feedback=feedback_of())
        with pytest.raises(ValueError, match="length"):
            found(changed(place, column), focus=(2, 1.0))
    with pytest.raises(IndexError):
        found(changed(7, tops - 1), focus=(3, 1.0))
    with pytest.raises(IndexError):
        found(changed(7, tops - 1), feedback=feedback_of())


def test_numbers_of_feedback_and_focus_are_checked() -> None:
    assert COMPILED is not None
    for wrong in ({"hits": 17}, {"hits": -1}, {"best": -1}, {"letters": -1}):
        with pytest.raises(ValueError, match="out of range"):
            found(columns(), feedback=feedback_of(**wrong))
    with pytest.raises(ValueError, match="out of range"):
        found(columns(), focus=(-1, 1.0))
    read = COMPILED.segments([tuple(columns())], *WORDS)
    with pytest.raises(ValueError, match="out of range"):
        COMPILED.best(read, plan(), None, None, -1, 1.0)
    with pytest.raises(ValueError, match="PyCapsule"):
        COMPILED.scores(object(), plan(), None, None)
    with pytest.raises(TypeError):
        found(columns(), feedback=(1, 2))
    # Too few hits have nothing in common.
    assert found(columns(), feedback=feedback_of(hits=4)) == found(columns())


@pytest.mark.parametrize(
    ("string", "is_word"), [("post", True), ("POST", True), ("po", False), ("po5t", False), ("pöst", False)]
)
def test_only_words_are_terms_of_feedback(string: str, is_word: bool) -> None:
    # A term of the table, and one that is newer than the table.
    data = string.encode()
    tables = (WORDS, (np.frombuffer(data, np.uint8), np.array([0, len(data)], np.uint32)))
    assert COMPILED is not None
    for words, term in ((tables[1], 0), ((WORDS[0], WORDS[1][:1]), 0)):
        segment = changed(7, np.full(3, term, np.int32))
        segment[8] = np.ones(3, np.uint16)
        read = COMPILED.segments([tuple(segment)], *words)
        fed = COMPILED.scores(read, plan(), feedback_of(string=lambda _: string), None)
        assert (fed != COMPILED.scores(read, plan(), None, None)) == is_word
    assert _is_word(string) == is_word


def test_errors_of_the_vocabulary_are_raised() -> None:
    assert COMPILED is not None
    segment = changed(8, np.ones(3, np.uint16))
    read = COMPILED.segments([tuple(segment)], WORDS[0], WORDS[1][:1])
    for string, error in ((lambda _: 1 / 0, ZeroDivisionError), (lambda _: None, TypeError)):
        with pytest.raises(error):
            COMPILED.scores(read, plan(), feedback_of(string=string), None)
    far = COMPILED.segments([tuple(segment)], WORDS[0], WORDS[1] + np.uint32(9))
    with pytest.raises(ValueError, match="offsets"):
        COMPILED.scores(far, plan(), feedback_of(), None)


@given(st.lists(st.integers(1, 2**16 - 1), min_size=1), st.integers(1, 5))
def test_the_best_scores_are_selected(impacts: list[int], count: int) -> None:
    assert COMPILED is not None
    segment = columns(len(impacts))
    segment[2] = np.array(impacts, np.uint16)
    scores = [impact / 2**15 for impact in sorted(impacts, reverse=True)]
    least = scores[min(count, len(scores)) - 1]

    hits = COMPILED.best(COMPILED.segments([tuple(segment)], *WORDS), plan(), None, None, count, np.inf)

    assert [score for score, _, _ in hits] == [score for score in scores if score >= least]


def test_a_search_leaves_nothing_for_the_next_one() -> None:
    index = ImpactIndex(inline)
    run_sync(index.apply(additions(*(make_entry(f"org.example/{n}", "Mail and letters") for n in range(30)))))
    pages = [run_sync(index.search(Query(keywords))) for keywords in ("mail", "letters", "mail")]
    assert pages[0].hits.records == pages[2].hits.records


def test_a_search_after_one_that_needs_much_memory_finds_the_same() -> None:
    assert COMPILED is not None
    few, many = (COMPILED.segments([tuple(columns(count))], *WORDS) for count in (3, 100_000))
    before = COMPILED.scores(few, plan(), None, None)
    large = [(ONE, 1.0)] * 30, *plan()[1:]
    ((doc_ids, _),) = COMPILED.scores(many, large, None, None)
    assert np.array_equal(np.frombuffer(doc_ids, np.int32), np.arange(100_000))
    assert COMPILED.scores(few, plan(), None, None) == before


MANY = 30_000
"""Documents of a search that lets other threads run."""


def many_columns() -> list[Any]:
    """Return the columns of a segment whose documents share a term of feedback."""
    return [*columns(MANY)[:8], np.ones(MANY, np.uint16), *columns(MANY)[9:]]


def test_large_searches_in_several_threads_find_the_same() -> None:
    assert COMPILED is not None
    few = COMPILED.segments([tuple(columns())], *WORDS)
    # The string is not in the table: Python is called for it.
    many = COMPILED.segments([tuple(many_columns())], WORDS[0], WORDS[1][:1])
    arguments = plan(), feedback_of(string=lambda _: "mail"), (3, 0.5)
    (alone,) = COMPILED.scores(many, *arguments)
    assert len(np.unique(np.frombuffer(alone[1], np.float32))) == 1
    assert alone != COMPILED.scores(many, plan(), None, None)[0]
    hits = COMPILED.best(many, *arguments, 3, np.inf)

    def search(number: int) -> tuple[Any, Any, Any]:
        assert COMPILED is not None
        found = COMPILED.scores(many, *arguments), COMPILED.best(many, *arguments, 3, np.inf)
        return *found, COMPILED.scores(few, *arguments)

    with ThreadPoolExecutor(4) as threads:
        every = [*threads.map(search, range(24))]
    assert every == [([alone], hits, COMPILED.scores(few, *arguments))] * 24


def test_errors_of_large_searches_are_raised() -> None:
    assert COMPILED is not None
    many = COMPILED.segments([tuple(many_columns())], WORDS[0], WORDS[1][:1])
    with pytest.raises(ZeroDivisionError):
        COMPILED.best(many, plan(), feedback_of(string=lambda _: 1 / 0), None, 1, np.inf)
    segment = many_columns()
    segment[1] = np.full(MANY, MANY, np.int32)
    with pytest.raises(IndexError):
        COMPILED.best(COMPILED.segments([tuple(segment)], *WORDS), plan(), None, None, 1, np.inf)


def test_rare_words_cover_as_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    index = random_index(0)
    before = [scores(index, keywords) for keywords in QUESTIONS]
    monkeypatch.setattr(coverage, "RARE", 0.5)
    rare = [scores(index, keywords) for keywords in QUESTIONS]
    with using(None):
        assert [scores(index, keywords) for keywords in QUESTIONS] == rare
    assert rare != before
