"""The tables of words: thesaurus and topics, lexicon, vectors. Their data follow rules and are bounded."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from attrs import frozen

from directory_server.search.tables.conditions import conditions
from directory_server.search.tables.files import NOTHING, HashedTexts, Lazy
from directory_server.search.tables.lexicon import lexicon
from directory_server.search.tables.stop_words import STOP_WORDS
from directory_server.search.tables.thesaurus import Thesaurus, read_thesaurus, singular, thesaurus
from directory_server.search.text import fold, is_unspaced, runs, tokens

MAX_TERMS = 8

SOURCES = Path(__file__).parents[2] / "search_data" / "sources"


@frozen
class Concept:
    """A concept, or a topic: its terms, and its expressions without those of topics that are terms as well."""

    terms: tuple[str, ...]
    expressions: tuple[str, ...]
    others: tuple[str, ...]


def _read(name: str) -> str:
    return files("directory_server.search").joinpath("data", name).read_text("utf-8")


@cache
def concepts() -> tuple[Concept, ...]:
    tables = tomllib.loads(_read("thesaurus.toml"))
    assert list(tables) == ["concept"]
    assert all(table.keys() == {"terms", "expressions"} for table in tables["concept"])
    return tuple(Concept(tuple(each["terms"]), *[tuple(each["expressions"])] * 2) for each in tables["concept"])


@cache
def topics() -> tuple[Concept, ...]:
    heading, *rows = _read("topics.tsv").splitlines()
    assert heading.split("\t") == ["equivalents", "related", "expressions"]
    cells = [[tuple(filter(None, cell.split(","))) for cell in row.split("\t")] for row in rows]
    assert {len(row) for row in cells} == {3}
    return tuple(Concept(same + related, same + others, others) for same, related, others in cells)


BOTH = pytest.mark.parametrize("table", [concepts, topics], ids=["thesaurus.toml", "topics.tsv"])


def parts(text: str) -> list[str]:
    return [part for parts, _ in runs(text, humps=False) for part in parts]


def within(one: str, other: str) -> bool:
    """Return whether all words of an expression are in another one."""
    (spaced, pieces), (others, wholes) = split(one), split(other)
    return spaced <= others and all(any(piece in whole for whole in wholes) for piece in pieces)


@cache
def split(text: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the words of an expression, and its runs of scripts without spaces."""
    found = parts(text)
    return frozenset(singular(part) for part in found if not is_unspaced(part)), tuple(filter(is_unspaced, found))


@BOTH
def test_concepts_have_few_terms_of_one_word_or_two(table: Callable[[], tuple[Concept, ...]]) -> None:
    rows = table()
    assert [row.terms for row in rows if not (1 <= len(row.terms) <= MAX_TERMS and row.expressions)] == []
    assert [term for row in rows for term in row.terms if not 1 <= len(tokens(term)) <= 2 or term in STOP_WORDS] == []
    assert [row.terms for row in rows if len({tuple(tokens(term)) for term in row.terms}) < len(row.terms)] == []
    counted = Counter(frozenset(row.terms) for row in rows)
    assert [terms for terms, count in counted.items() if count > 1] == []


@BOTH
def test_texts_are_folded_words_separated_by_single_spaces(table: Callable[[], tuple[Concept, ...]]) -> None:
    texts = {text for row in table() for text in (*row.terms, *row.expressions)}
    folded = {text: " ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in texts}
    assert [text for text in texts if text != folded[text]] == []
    pieces = {piece for text in texts for piece in text.split(" ")}
    assert [piece for piece in pieces if len(runs(piece, humps=False)) != 1] == []
    if table is topics:
        assert [text for text in texts if not text.isascii() or text != fold(text)] == []


@BOTH
def test_no_expression_is_a_stop_word_a_letter_or_contains_another(table: Callable[[], tuple[Concept, ...]]) -> None:
    rows = table()
    every = {text for row in rows for text in row.expressions}
    assert [text for text in every if text in STOP_WORDS or (text.isascii() and len(text) == 1)] == []
    redundant = [
        (shorter, longer)
        for row in rows
        for longer in row.others
        for shorter in row.expressions
        if shorter != longer and within(shorter, longer)
    ]
    assert redundant == []
    if table is topics:
        counted = Counter(frozenset(map(singular, tokens(text))) for row in rows for text in row.others)
        assert [sorted(words) for words, count in counted.items() if count > 1] == []


def names(query: str, table: Thesaurus | None = None) -> set[str]:
    """Return the names of the concepts that a query matches."""
    spaced = [part for part in parts(query) if not is_unspaced(part)]
    matches = (table or thesaurus()).matches(spaced, [*filter(is_unspaced, parts(query))])
    return {match.concept.name for match in matches}


MATCHING = {
    "Who do I still owe money?": "splitwise", "umbrella tomorrow?": "weather", "a file that I lost": "file search",
    "明天要带伞吗": "weather", "幫我訂一張高鐵票": "train", "冷蔵庫の残り物": "recipe",
    "이 보고서 요약해줘": "summarize",
    "Übersetze das": "translation", "un appartement à louer": "real estate", "найди мне вакансии": "job search",
    "reserve a table tonight": "restaurant reservation", "ATS for our recruiters": "ats",
    "satellite images of fields": "satellite imagery",
}  # fmt: skip

NOT_MATCHING = {
    "book flight": "book", "log in": "logs", "time series": "movie", "docker compose": "music generation",
    "docker compose logs": "spotify", "hacker news": "penetration testing", "スキーマ": "ski", "プロトコル": "betting",
    "자동화": "novel", "전세계": "real estate", "加密货币": "encryption", "机器学习": "education",
}  # fmt: skip


def test_queries_match_concepts() -> None:
    assert {query: name for query, name in MATCHING.items() if name not in names(query)} == {}
    assert {query: name for query, name in NOT_MATCHING.items() if name in names(query)} == {}
    assert {*NOT_MATCHING.values()} <= {row.terms[0] for row in concepts()}, "a concept has another first term"


SMALL = read_thesaurus(
    '[[concept]]\nterms = ["space"]\nexpressions = ["satellite", "imagery", "卫星"]\n'
    '[[concept]]\nterms = ["tv"]\nexpressions = ["satellite dish"]',
    "equivalents\trelated\texpressions\nsatellite imagery\tlandsat\taerial photo\nimagery\t\t\n",
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # A longer expression replaces its parts, and a topic a concept with the same expression.
        ("satellite imagery", {"satellite imagery"}),
        ("satellite dish", {"tv"}),
        ("satellite", {"space"}),
        ("imagery", {"imagery"}),
        ("卫星 aerial photos", {"satellite imagery", "space"}),
    ],
)
def test_the_narrowest_concept_counts(query: str, expected: set[str]) -> None:
    assert names(query, SMALL) == expected


def test_terms_of_a_topic_come_before_its_related_terms() -> None:
    (match,) = SMALL.matches(["aerial", "photos"], [])
    assert match.concept.terms == [("satellit", "imageri"), ("landsat",)]


def test_expressions_of_conditions_are_found_by_their_first_words() -> None:
    assert all(
        expression.units[: len([*filter(None, start)])] == tuple(filter(None, start))
        for start, group in conditions().items()
        for expression in group
    )


def test_the_lexicon_is_ordered_and_bounded() -> None:
    table = lexicon()
    assert len(files("directory_server.search").joinpath("data", "lexicon.npz").read_bytes()) <= 5_000_000
    size = sum(texts.texts.nbytes + texts.slots.nbytes for texts in (table.keys, table.english))
    size += sum(column.nbytes for column in (table.starts, table.numbers, table.rarities, table.sure))
    assert size <= 30_000_000
    for texts in (table.keys.texts, table.english.texts):
        assert (texts[1:] > texts[:-1]).all()
    assert len(table.starts) == len(table.keys) + 1 == len(table.rarities) + 1 == len(table.sure) + 1
    assert (table.starts[1:] > table.starts[:-1]).all()
    assert table.numbers.min() >= 0
    assert table.numbers.max() < len(table.english)
    assert {*table.function_words} == {"de", "es", "fr", "pt", "it", "ru", "ar", "hi", "vi", "tr", "id", "pl", "nl"}
    assert all(50 <= len(words) <= 250 for words in table.function_words.values())


SCRIPTS = {
    "zh": "[\u3400-\u9fff]", "ja": "[\u3040-\u30ff\u3400-\u9fff]|[A-Z][A-Z1]", "ko": "[\uac00-\ud7a3]|[A-Z]{3}",
    "ru": "[\u0400-\u04ff]", "uk": "[\u0400-\u04ff]", "ar": "[\u0600-\u06ff]", "hi": "[\u0900-\u097f]",
}  # fmt: skip


def test_the_sources_of_the_lexicon_have_their_form() -> None:
    header, *rows = [line.split("\t") for line in (SOURCES / "senses.tsv").read_text("utf-8").splitlines()]
    assert {len(row) for row in rows} == {len(header)}
    cells = [(language, cell.split(",")) for row in rows for language, cell in zip(header, row, strict=True) if cell]
    assert [
        cell for _, cell in cells if len({*cell}) < len(cell) or any(text != text.strip() or not text for text in cell)
    ] == []
    foreign = re.compile("[\u0370-\uffff]")
    wrong = [
        (language, text)
        for language, cell in cells
        for text in cell
        if not (
            re.search(SCRIPTS[language], text)
            if language in SCRIPTS
            else not foreign.search(re.sub("[\u1e00-\u1eff\u2019]", "", text))
        )
    ]
    assert wrong == []
    english = Counter(frozenset(row[0].split(",")) for row in rows)
    assert [sorted(texts) for texts, count in english.items() if count > 1] == []
    named = [line.split("\t") for line in (SOURCES / "names.tsv").read_text("utf-8").splitlines()]
    counted = Counter(name for _, others in named for name in others.split(","))
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("count", [0, 1, 2, 500])
def test_texts_are_found_by_their_hash(count: int) -> None:
    texts = sorted({f"word {number * 7}".encode() for number in range(count)})
    table = HashedTexts.of(np.array(texts, "S12"))
    assert [table.find(text) for text in texts] == [*range(count)]
    assert {table.find(text) for text in (b"", b"word", b"word 1", b"word 7" + b"x" * 12, "wörd".encode())} == {NOTHING}


def test_several_threads_compute_a_table_once() -> None:
    computed, is_computing, may_end = list[object](), Event(), Event()

    def compute() -> object:
        is_computing.set()
        assert may_end.wait(60)
        computed.append(object())
        return computed[-1]

    lazy, found = Lazy(compute), list[object]()
    threads = [Thread(target=lambda: found.append(lazy())) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert is_computing.wait(60)
    assert not lazy.is_computed
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert lazy.is_computed
    assert found == computed * 4
    assert len(computed) == 1
