"""Short ways of planning a search: the results are those of the long ways."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.run_sync import inline, run_sync
from directory_server.search import ImpactIndex
from directory_server.search.index import collection as collection_module
from directory_server.search.query import parsing
from tests.contract.index import additions, make_entry


@given(st.text("abBC09 ", max_size=600))
def test_keywords_of_words_only_are_parsed_like_others(keywords: str) -> None:
    found = parsing.parse(keywords)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "_ONLY_WORDS", re.compile("(?!)"))
        assert parsing.parse(keywords) == found


@pytest.mark.parametrize("few", [1, 100])
@pytest.mark.parametrize("weights", [(1.0, 0.35), (0.35, 1.0), (0.5, 0.5)])
def test_name_ratio_is_that_of_the_best_term(
    few: int, weights: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_module, "FEW", few)
    index = ImpactIndex(inline)
    entries = [make_entry(f"org.example/mail-{n}", "Sends letters") for n in range(9)]
    others = [make_entry(f"org.example/post-{n}", "Mail, mostly") for n in range(4)]
    run_sync(index.apply(additions(*entries, *others)))
    collection = index.snapshot.collection
    terms = [collection.term(word) for word in ("letters", "mail", "post", "sends", "mostly")]
    numbers = [term for term in terms if term is not None]
    every = [weights[0], weights[1], *[weights[0]] * (len(numbers) - 2)]

    best = max(collection.name_ratio([term], [1.0]) * weight for term, weight in zip(numbers, every, strict=True))

    assert collection.name_ratio(numbers, every) == pytest.approx(best)
    assert collection.name_ratio([], []) == 0.0
