"""Postings of several segments as those of one."""

from __future__ import annotations

import numpy as np
import pytest

from directory_server.search.index import merging
from directory_server.search.index.arrays import Bools, Ints
from directory_server.search.index.joining import grouped, joined, sums
from directory_server.search.index.merging import PostingLists

TERMS = 40


def segment(random: np.random.Generator, documents: int, *, whole: bool) -> PostingLists:
    """Return random posting lists, by term if `whole`."""
    codes = np.unique(random.integers(0, TERMS * documents, 6 * documents))
    impacts = random.integers(1, 60_000, len(codes)).astype(np.uint16)
    found = grouped((codes // documents).astype(np.int32), (codes % documents).astype(np.int32), impacts)
    assert found.known is not None
    known, counts = found.known.astype(np.int32), found.counts
    if whole:
        counts = np.bincount(known, counts, TERMS).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(counts), [len(codes)]]).astype(np.uint32)
    return PostingLists(starts, found.doc_ids, found.impacts, documents, None if whole else known)


def expected(parts: list[tuple[PostingLists, Bools]], mapping: Ints) -> list[tuple[int, int, int]]:
    """Return the term, document and impact of each live posting, sorted."""
    found, first = [], 0
    for lists, live in parts:
        new_ids = {number: first + place for place, number in enumerate(np.flatnonzero(live).tolist())}
        for term in range(TERMS):
            row = lists.row(term)
            for at in range(int(lists.starts[row]), int(lists.starts[row + 1])):
                if (document := int(lists.doc_ids[at])) in new_ids:
                    found.append((int(mapping[term]), new_ids[document], int(lists.impacts[at])))
        first += len(new_ids)
    return sorted(found)


@pytest.mark.parametrize("chunk", [1, 7, 1_000])
@pytest.mark.parametrize("seed", range(5))
def test_live_postings_of_several_segments(monkeypatch: pytest.MonkeyPatch, seed: int, chunk: int) -> None:
    monkeypatch.setattr(merging, "CHUNK", chunk)
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 30, 4).tolist()
    parts = [
        (segment(random, size, whole=number == 0), random.random(size) < (1.0, 0.5, 1.0, 0.1)[number])
        for number, size in enumerate(sizes)
    ]
    mapping = random.permutation(TERMS).astype(np.int32)
    unchanged = np.arange(TERMS, dtype=np.int32)
    for used, terms_in_all in ((None, None), (mapping, None), (mapping, TERMS)):
        found = joined(parts, used, terms_in_all)
        assert (found.known is None) == (terms_in_all is not None)
        known = np.arange(TERMS) if found.known is None else found.known
        terms = np.repeat(known, found.counts)
        columns = (terms.tolist(), found.doc_ids.tolist(), found.impacts.tolist())
        assert list(zip(*columns, strict=True)) == expected(parts, unchanged if used is None else used)


def test_no_live_documents() -> None:
    lists = segment(np.random.default_rng(1), 10, whole=False)
    found = joined([(lists, np.zeros(10, bool))])
    assert found.known is not None
    assert len(found.known) == len(found.doc_ids) == len(found.impacts) == 0


@pytest.mark.parametrize("seed", range(3))
def test_terms_of_a_large_segment_are_found_without_a_dict(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    small = segment(np.random.default_rng(seed), 3, whole=False)
    monkeypatch.setattr(merging, "MANY", 0)
    large = PostingLists(small.starts, small.doc_ids, small.impacts, small.documents, small.known)
    for term in range(TERMS + 2):
        assert large.row(term) == small.row(term)
        assert large.documents_with(term).tolist() == small.documents_with(term).tolist()
        # A query reads the postings where it is not known that there are none.
        assert small.lacks_all([term]) >= large.lacks_all([term])


def test_sums_of_flags() -> None:
    flags = np.array([True, False, True, True])
    assert sums(flags, np.array([0, 2, 0, 1, 1, 0])).tolist() == [0, 1, 0, 1, 1, 0]
    assert sums(flags[:0], np.array([0])).tolist() == [0]
