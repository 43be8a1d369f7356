"""The dictionary of other languages: its form and size, look-ups, the division of runs, the language of queries."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from directory_server.search.text.analysis import words
from directory_server.search.text.dictionary import ENGLISH_BYTES, KEY_BYTES, MAX_RUN, NOTHING, Dictionary, dictionary
from directory_server.search.text.division import UNKNOWN, divide, may_end
from directory_server.search.text.translation_tables import translations
from directory_server.search.text.word_forms import with_accents

MAX_FILE_BYTES, MAX_MEMORY_BYTES = 4_000_000, 20_000_000

RELEVANCE = Path(__file__).parents[1] / "relevance"


@pytest.fixture
def small() -> Dictionary:
    keys = np.array([b"de haus", b"de rechnung", "x 低".encode(), "x 分辨率".encode()])
    numbers = np.array([[1, NOTHING], [2, 0], [3, NOTHING], [4, NOTHING]], np.int32)
    english = np.array([b"bill", b"house", b"invoice", b"low", b"resolution"])
    return Dictionary(keys, numbers, np.array([40, 52, 30, 55], np.uint8), english)


def parts(query: str) -> list[str]:
    return [part for word in words(query, humps=True) if word.spaced for part in word.parts]


def test_the_table_is_ordered_and_bounded() -> None:
    table = dictionary()
    path = files("directory_server.search").joinpath("data", "dictionary.npz")
    assert len(path.read_bytes()) <= MAX_FILE_BYTES
    columns = table.keys, table.numbers, table.rarities, table.english
    assert sum(column.nbytes for column in columns) <= MAX_MEMORY_BYTES
    assert table.keys.dtype.itemsize <= KEY_BYTES
    assert table.english.dtype.itemsize <= ENGLISH_BYTES
    for column in (table.keys, table.english):
        assert (column[1:] > column[:-1]).all()
    assert len(table.keys) == len(table.numbers) == len(table.rarities)
    assert table.numbers[:, 0].min() >= 0
    assert table.numbers.min() >= NOTHING
    assert table.numbers.max() < len(table.english)


def test_the_first_form_that_is_known_counts(small: Dictionary) -> None:
    assert small.find("de", ["rechnungen", "rechnung", "haus"]) == ["invoice", "bill"]
    assert small.find("nl", ["rechnung"]) == ()
    assert small.find("de", []) == ()


def test_a_longer_word_is_not_cut_to_a_known_one(small: Dictionary) -> None:
    assert small.find("de", ["rechnung" + "x" * KEY_BYTES]) == ()
    assert small.has([("de", "haus"), ("de", "hau"), ("x", "\ud800")]) == [True, False, False]


def test_words_of_a_run_have_at_least_two_characters(small: Dictionary) -> None:
    assert {word: found.english for word, found in small.words_in("低分辨率图").items()} == {"分辨率": ["resolution"]}
    assert small.words_in("低" * MAX_RUN + "分辨率") == {}
    assert small.words_in("") == {}


def test_a_run_is_divided_into_its_likeliest_words() -> None:
    costs = {"低分": 6.9, "分辨率": 5.5, "辨": 9.0}
    assert divide("低分辨率", 8, lambda piece, place: costs.get(piece)) == [(1, 4)]
    assert divide("低分", 8, lambda piece, place: costs.get(piece)) == [(0, 2)]
    # A word that is rarer than a character of no word is left out.
    assert costs["辨"] > UNKNOWN
    assert divide("辨", 8, lambda piece, place: costs.get(piece)) == []
    assert divide("", 8, lambda piece, place: 1.0) == []


def test_a_run_of_katakana_is_a_loanword_unless_it_consists_of_frequent_words() -> None:
    assert divide("新しいスキーマ", 8, lambda piece, place: None) == [(3, 7)]
    costs = {"セット": 4.0, "リスト": 4.0}
    assert divide("セットリスト", 8, lambda piece, place: costs.get(piece)) == [(0, 3), (3, 6)]


def test_a_korean_word_ends_before_a_particle_or_an_ending() -> None:
    assert may_end("세금을", 2)
    assert may_end("세금", 2)
    assert not may_end("게이트", 2)
    assert may_end("分辨率图", 3)


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("Lobbyismus, Korruption und Transparenzregister", "de"),
        ("kausale Inferenz und Kontrafaktisches", "de"),
        ("demostración formal de teoremas", "es"),
        ("littérature médiévale et manuscrits", "fr"),
    ],
)
def test_the_dictionary_tells_the_language_of_words_that_the_lexicon_lacks(query: str, language: str) -> None:
    assert translations().likely_language(parts(query), with_accents(query)) == language


def test_no_english_query_of_the_sets_is_in_another_language() -> None:
    rows = [json.loads(line) for path in RELEVANCE.glob("*.jsonl") for line in path.read_text("utf-8").splitlines()]
    english = [row["query"] for row in rows if row.get("language", "en") == "en"]
    assert len(english) > 500
    lexicon = translations()
    assert [query for query in english if lexicon.likely_language(parts(query), with_accents(query))] == []


def test_expressions_of_the_dictionary_follow_those_of_the_lexicon() -> None:
    (proof,) = translations().in_run("证明")
    first, second = proof.senses
    assert ["certificate"] in [list(words) for words in first]
    assert ["prove"] in [list(words) for words in second]
