"""Scores of the compiled module: those of numpy, for the same documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.search import Query
from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index import arrays
from directory_server.search.index.merging import Postings
from directory_server.search.query.concepts import ConceptEvidence
from directory_server.search.query.groups import Part, TermGroup
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import Plan, build_plan
from directory_server.search.ranking import compiled, coverage, feedback
from directory_server.search.ranking.feedback import _is_word
from directory_server.search.ranking.scoring import score_documents
from tests.contract.index import make_entry, search_names

from . import index_of, using
from .random_changes import QUERIES, changes_of

COMPILED = arrays.engine
QUESTIONS = (*QUERIES, "github kubernetes no api key", "in rust weather", "天气 预报", "mail github letters weather")

pytestmark = pytest.mark.skipif(COMPILED is None, reason="the compiled module was not built")


def scores(index: ImpactIndex, keywords: str) -> list[dict[int, Any]]:
    collection, live = index.snapshot.collection, index.snapshot.live(None)
    pinned = [part.pinned for part in index.snapshot.parts]
    found: Sequence[Postings] = score_documents(build_plan(parse(keywords), collection), collection, live, pinned)
    return [
        {doc_id: pytest.approx(score, rel=1e-5) for doc_id, score in zip(*map(np.ndarray.tolist, each), strict=True)}
        for each in found
    ]


def set_limits(monkeypatch: pytest.MonkeyPatch, enough: int, best: int) -> None:
    """Set MIN_MATCHES and BEST."""
    monkeypatch.setattr(feedback, "MIN_MATCHES", enough)
    monkeypatch.setattr(feedback, "BEST", best)


@cache
def random_index(seed: int) -> ImpactIndex:
    """Return an index that is not changed."""
    random, index = Random(seed), ImpactIndex(inline, sizes=(2, 6))
    for seq in range(random.choice([1, 4, 9])):
        run_sync(index.apply(changes_of(random, seq)))
    return index


@pytest.mark.parametrize("seed", range(4))
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
        first = run_sync(index.search(Query(keywords, 100)))
        assert first.match == whole.match, keywords
        assert first.strength == pytest.approx(whole.strength), keywords
        assert names == [hit.server_name for hit in whole.hits], keywords


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("enough", "best"), [(2, 3), (13, 14), (13, 100), (1_000, 1_000)])
def test_scores_are_those_of_numpy(seed: int, enough: int, best: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch, enough, best)
    index = random_index(seed)
    for keywords in QUESTIONS:
        own = scores(index, keywords)
        with using(None):
            assert scores(index, keywords) == own, keywords


@pytest.mark.parametrize("kernel", dict.fromkeys([None, arrays.engine]))
def test_feedback_adds_no_documents_where_enough_match(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [make_entry(f"org.example/{n}", f"Orchestration {n} by kubectl") for n in range(15)]
    others = [make_entry(f"org.example/other-{n}", "Speaks kubectl") for n in range(5)]
    rest = [make_entry(f"org.example/rest-{n}", "Something else") for n in range(40)]
    index = index_of(*entries, *others, *rest)

    with using(kernel):
        assert "org.example/other-1" in run_sync(search_names(index, "orchestration"))
        set_limits(monkeypatch, enough=15, best=15)
        assert len(run_sync(search_names(index, "orchestration"))) == 15


def columns(documents: int = 3, **changes: Any) -> dict[str, Any]:
    """Return the columns of a segment of one term, which all documents have, with `changes`."""
    doc_ids, facts = np.arange(documents, dtype=np.int32), np.zeros(documents, np.uint64)
    return {
        **{"starts": np.array([0, documents, documents], np.uint32), "doc_ids": doc_ids, "known": None},
        **{"impacts": np.ones(documents, np.uint16), "live": facts == 0, "priors": facts.astype(np.float32)},
        **{"facts": facts, "top_terms": doc_ids * 0, "top_impacts": np.zeros(documents, np.uint16)},
        **{"top_starts": np.arange(documents + 1), "described": np.ones(documents, np.uint16)},
        **changes,
    }


WORDS = np.frombuffer(b"mail", np.uint8), np.array([0, 4], np.uint32)
MAIL = TermGroup("mail", {0: 1.0}, 1.0)

PLAIN = Plan(
    parts=[Part({"mail"}, 1.0, [MAIL])],
    concepts=[],
    others=[],
    exact=[],
    names=[],
    query_weight=1.0,
    allows_feedback=True,
    required=[],
    excluded=[],
    phrases=[],
    conditions=[],
    is_name=False,
    filters_only=False,
    allows_focus=True,
    vector=None,
    likeness=None,
    unknown_weight=0.0,
    is_translated=False,
)

NUMBERS = {
    **{"prior_share": 1.0, "most_raised": 1.0, "least_kept": 0.5, "least_factor": 0.5},
    **{"hits": 0, "min_hits": 2, "min_frequency": 1, "added_terms": 10, "best": 0, "min_matches": 1},
    **{"min_letters": 3, "feedback_share": 0.4, "string": str, "focused": 0, "focus": 1.0},
}
"""The numbers of a search without feedback and focus."""

FED = {"hits": 2}
"""The changes with which a search has feedback."""


def arguments(segments: object, **changes: Any) -> dict[str, Any]:
    """Return the arguments of a search for one word, with `changes`."""
    return {"segments": segments, **compiled.plan_columns(PLAIN), **NUMBERS, **changes}


def found(*segments: Mapping[str, Any], **changes: Any) -> list[Any]:
    """Return the documents and scores of a plan in segments with these columns."""
    assert COMPILED is not None
    scores: list[Any] = COMPILED.scores(**arguments(COMPILED.segments([*segments], *WORDS), **changes))
    return scores


@pytest.mark.parametrize("best", [0, 2])
def test_postings_of_feedback_are_checked(best: int) -> None:
    # The query has the first term, the first hits share the second.
    ids = np.array([0, 1, 2, 0, 1, 2], np.int32)
    shared: dict[str, Any] = {
        **{"starts": np.array([0, 3, 6, 6], np.uint32), "doc_ids": ids, "impacts": np.ones(6, np.uint16)},
        **{"top_terms": np.ones(3, np.int32), "top_impacts": np.ones(3, np.uint16)},
    }
    words = np.frombuffer(b"mailpost", np.uint8), np.array([0, 4, 8], np.uint32)
    assert COMPILED is not None

    def fed(**changes: Any) -> Any:
        assert COMPILED is not None
        read = COMPILED.segments([columns(**{**shared, **changes})], *words)
        return COMPILED.scores(**arguments(read, **FED, best=best))

    ((_, raised),) = fed()
    ((_, plain),) = COMPILED.scores(**arguments(COMPILED.segments([columns(**shared)], *words)))
    assert (np.frombuffer(raised, np.float32) > np.frombuffer(plain, np.float32)).all()
    for wrong in (3, -1):
        with pytest.raises(IndexError):
            fed(doc_ids=np.array([0, 1, 2, 0, 1, wrong], np.int32))
        assert fed() == [(ids[:3].tobytes(), raised)]


@pytest.mark.parametrize(
    ("string", "is_word"), [("post", True), ("POST", True), ("po", False), ("po5t", False), ("pöst", False)]
)
def test_only_words_are_terms_of_feedback(string: str, is_word: bool) -> None:
    # A term of the table, and one that is newer than the table.
    data = string.encode()
    tables = (WORDS, (np.frombuffer(data, np.uint8), np.array([0, len(data)], np.uint32)))
    assert COMPILED is not None
    for words in (tables[1], (WORDS[0], WORDS[1][:1])):
        read = COMPILED.segments([columns(top_impacts=np.ones(3, np.uint16))], *words)
        fed = COMPILED.scores(**arguments(read, **FED, string=lambda _: string))
        assert (fed != COMPILED.scores(**arguments(read))) == is_word
    assert _is_word(string) == is_word


def test_errors_of_the_vocabulary_are_raised() -> None:
    assert COMPILED is not None
    segment = columns(top_impacts=np.ones(3, np.uint16))
    read = COMPILED.segments([segment], WORDS[0], WORDS[1][:1])
    for string, error in ((lambda _: 1 / 0, ZeroDivisionError), (lambda _: None, TypeError)):
        with pytest.raises(error):
            COMPILED.scores(**arguments(read, **FED, string=string))
    far = COMPILED.segments([segment], WORDS[0], WORDS[1] + np.uint32(9))
    with pytest.raises(ValueError, match="offsets"):
        COMPILED.scores(**arguments(far, **FED))


@given(st.lists(st.integers(1, 2**16 - 1), min_size=1), st.integers(1, 5))
def test_the_best_scores_are_selected(impacts: list[int], count: int) -> None:
    assert COMPILED is not None
    read = COMPILED.segments([columns(len(impacts), impacts=np.array(impacts, np.uint16))], *WORDS)
    scores = [impact / 2**15 for impact in sorted(impacts, reverse=True)]
    least = scores[min(count, len(scores)) - 1]

    hits = COMPILED.best(**arguments(read, count=count))

    assert [score for score, _, _ in hits] == [score for score in scores if score >= least]


def test_a_search_after_one_that_needs_much_memory_finds_the_same() -> None:
    assert COMPILED is not None
    few, many = (COMPILED.segments([columns(count)], *WORDS) for count in (3, 100_000))
    before = COMPILED.scores(**arguments(few))
    concepts = [ConceptEvidence("", [MAIL], {}, 1.0)] * 30
    large = compiled.plan_columns(evolve(PLAIN, concepts=concepts))
    ((doc_ids, _),) = COMPILED.scores(**arguments(many, **large))
    assert np.array_equal(np.frombuffer(doc_ids, np.int32), np.arange(100_000))
    assert COMPILED.scores(**arguments(few)) == before


MANY = 30_000
"""Documents of a search that lets other threads run."""


def test_large_searches_in_several_threads_find_the_same() -> None:
    assert COMPILED is not None
    few = COMPILED.segments([columns()], *WORDS)
    # The documents share a term of feedback. Its string is not in the table: Python is called for it.
    many = COMPILED.segments([columns(MANY, top_impacts=np.ones(MANY, np.uint16))], WORDS[0], WORDS[1][:1])
    changes = {**FED, "string": lambda _: "mail", "focused": 3, "focus": 0.5}
    of_few, of_many = arguments(few, **changes), arguments(many, **changes)
    (alone,) = COMPILED.scores(**of_many)
    assert len(np.unique(np.frombuffer(alone[1], np.float32))) == 1
    assert alone != COMPILED.scores(**arguments(many))[0]
    hits = COMPILED.best(**of_many, count=3)

    def search(number: int) -> tuple[Any, Any, Any]:
        assert COMPILED is not None
        return COMPILED.scores(**of_many), COMPILED.best(**of_many, count=3), COMPILED.scores(**of_few)

    with ThreadPoolExecutor(4) as threads:
        every = [*threads.map(search, range(24))]
    assert every == [([alone], hits, COMPILED.scores(**of_few))] * 24


def test_errors_of_large_searches_are_raised() -> None:
    assert COMPILED is not None
    shared = columns(MANY, top_impacts=np.ones(MANY, np.uint16))
    many = COMPILED.segments([shared], WORDS[0], WORDS[1][:1])
    with pytest.raises(ZeroDivisionError):
        COMPILED.best(**arguments(many, **FED, string=lambda _: 1 / 0, count=1))
    wrong = COMPILED.segments([{**shared, "doc_ids": np.full(MANY, MANY, np.int32)}], *WORDS)
    with pytest.raises(IndexError):
        COMPILED.best(**arguments(wrong, count=1))


def test_rare_words_cover_as_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    index = random_index(0)
    before = [scores(index, keywords) for keywords in QUESTIONS]
    monkeypatch.setattr(coverage, "RARE", 0.5)
    rare = [scores(index, keywords) for keywords in QUESTIONS]
    with using(None):
        assert [scores(index, keywords) for keywords in QUESTIONS] == rare
    assert rare != before
