"""Strings near a word: those within an edit or two, and the bounds of the comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from directory_server.search.index.view import View
from directory_server.search.tables import near_words
from directory_server.search.tables.near_words import LONGEST, NearWords
from tests.contract.index import make_entry

from . import index_of, search

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
SIMILAR = {f"zeppelin{one}{other}" for one in ALPHABET for other in ALPHABET}

letters = st.text("abcé7-", min_size=1, max_size=8)


def near(words: set[str], word: str, edits: int, prefix: str = "") -> dict[str, int]:
    """Return those of `words`, which have the prefix in a table, that are near a word."""
    strings = np.array(sorted((prefix + word).encode() for word in words), "S48")
    return dict(NearWords.of(strings, np.ones(len(strings), bool), len(prefix)).find(word, edits))


@given(
    st.sets(letters), st.text("abc7", min_size=1, max_size=8), st.sampled_from([1, 2]), st.sampled_from(["", "\0bare:"])
)
def test_near_strings_are_those_within_the_edits(words: set[str], word: str, edits: int, prefix: str) -> None:
    distances = {other: OSA.distance(word, other) for other in words if other.isascii()}
    assert near(words, word, edits, prefix) == {
        other: distance for other, distance in distances.items() if 0 < distance <= edits
    }


def test_strings_of_no_document_are_not_near() -> None:
    strings = np.array([b"mail", b"mall", b"rail"])
    assert dict(NearWords.of(strings, np.array([True, False, True])).find("mail", 1)) == {"rail": 1}
    assert dict(NearWords.of(strings[:0], np.zeros(0, bool)).find("mail", 1)) == {}


def test_long_words_are_not_compared() -> None:
    words = {"a" * (LONGEST - 2), "a" * LONGEST, "a" * (LONGEST + 1)}
    assert near(words, "a" * (LONGEST - 1), 1) == {"a" * (LONGEST - 2): 1, "a" * LONGEST: 1}
    assert near(words, "a" * LONGEST, 1) == near(words, "", 1) == {}


def test_comparisons_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(near(SIMILAR, "zeppelinaa", 2)) > 600
    monkeypatch.setattr(near_words, "MAX_COMPARED", 10)
    assert len(near(SIMILAR, "zeppelinaa", 2)) <= 10


@pytest.mark.parametrize(
    ("keywords", "count"),
    [
        ("kalendars kalenders calandars calendrs kalandars callendar ", 4),
        # Most words of a long query are unknown: no misspelling.
        (" ".join(f"kalendar{one}{other}" for one in "abcdefgh" for other in "klmn"), 0),
        ("calendars weeks a1 a2 a3 a4 a5 a6 servver databse reposiotry oficce calendrs ", 4),
    ],
)
def test_few_words_of_a_query_are_compared_and_each_once(
    keywords: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def counted(view: View, word: str, edits: int, prefix: str = "") -> dict[str, int]:
        compared.append(word)
        return find(view, word, edits, prefix)

    index = index_of(
        *(
            make_entry(f"org.example/{n}", "Calendars, weeks, office, server, database, repository, a1 a2 a3 a4 a5 a6")
            for n in range(9)
        )
    )
    find = View.near
    monkeypatch.setattr(View, "near", counted)
    for _ in range(3):
        search(index, keywords)
    # Those without a neighbour of one edit are compared with those of two.
    assert len({*compared}) == count
    assert len(compared) <= 2 * count
