"""Searches for phrases in many texts."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from directory_server.domain.search import Query
from directory_server.run_sync import run_sync
from directory_server.search.index import packed
from directory_server.search.index.packed import Packed
from tests.contract.index import make_entry

from . import index_of


@pytest.mark.parametrize("chunk", [1, 5, 1_000])
@pytest.mark.parametrize("seed", range(4))
def test_items_that_contain_a_key(monkeypatch: pytest.MonkeyPatch, seed: int, chunk: int) -> None:
    monkeypatch.setattr(packed, "CHUNK", chunk)
    random = Random(seed)
    items = ["".join(random.choices("abé", k=random.randrange(7))).encode() for _ in range(60)]
    found = Packed.of(items)
    for key in (b"a", b"ab", b"aa", "éa".encode(), b"abab", b"zz"):
        for numbers in (np.arange(60, dtype=np.int32), np.array([7, 3, 3], np.int32), np.empty(0, np.int32)):
            expected = [key in items[number] for number in numbers.tolist()]
            assert found.containing(numbers, key).tolist() == expected


def test_a_phrase_is_not_found_across_the_texts_of_two_entries() -> None:
    found = Packed.of([b"reads ma", b"il and more", b"reads mail"])
    assert found.containing(np.arange(3, dtype=np.int32), b"mail").tolist() == [False, False, True]


def test_a_rare_phrase_of_common_words_is_found_among_all_entries() -> None:
    others = [make_entry(f"org.example/{number}", "mail for you, and you for mail") for number in range(300)]
    rare = make_entry("org.example/rare", "you and for mail " + "which is longer than the other descriptions " * 3)
    index = index_of(*others, rare)
    page = run_sync(index.search(Query('"you and for" "mail"')))
    assert [hit.name for hit in page.hits] == ["org.example/rare"]
    assert len(run_sync(index.search(Query('"and you for"', 50))).hits) == 50


def test_quotes_in_a_sentence_are_no_exact_phrases() -> None:
    index = index_of(make_entry("org.example/tasks", "Adds tasks to lists"))
    sentence = 'add a task to my list every time the user says "remind me"'
    assert [hit.name for hit in run_sync(index.search(Query(sentence))).hits] == ["org.example/tasks"]
    assert not run_sync(index.search(Query('add a task "remind me"'))).hits
