"""The table of topics follows its rules, and the narrowest topic of a query counts."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib.resources import files

import pytest
from attrs import evolve, frozen

from directory_server.search.query import concepts
from directory_server.search.query.concepts import concept_evidence, expansions
from directory_server.search.query.exclusions import STOP_WORDS
from directory_server.search.query.parsing import parse
from directory_server.search.query.translation import Translation
from directory_server.search.text.analysis import fold, tokens, words
from directory_server.search.text.thesaurus import read_thesaurus, singular, thesaurus
from tests.contract.index import make_entry

from . import index_of

MAX_TERMS = 8


@frozen
class Topic:
    equivalents: tuple[str, ...]
    related: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        return self.equivalents + self.related

    @property
    def expressions(self) -> tuple[str, ...]:
        return self.equivalents + self.others


@cache
def topics() -> tuple[Topic, ...]:
    text = files("directory_server.search").joinpath("data", "topics.tsv").read_text(encoding="utf-8")
    heading, *rows = text.splitlines()
    assert heading.split("\t") == ["equivalents", "related", "expressions"]
    cells = [[tuple(filter(None, cell.split(","))) for cell in row.split("\t")] for row in rows]
    assert {len(row) for row in cells} == {3}
    return tuple(Topic(*row) for row in cells)


def stems(text: str) -> frozenset[str]:
    return frozenset(singular(token) for token in tokens(text))


def test_every_topic_has_a_name_of_its_own_and_few_terms() -> None:
    assert [name for name, times in Counter(topic.terms[0] for topic in topics()).items() if times > 1] == []
    assert [topic.terms for topic in topics() if not 1 <= len(topic.terms) <= MAX_TERMS] == []


def test_terms_are_one_word_or_two() -> None:
    every = {term for topic in topics() for term in topic.terms}
    assert [term for term in every if not 1 <= len(tokens(term)) <= 2] == []
    assert every & STOP_WORDS == set()
    assert [topic.terms for topic in topics() if len(set(topic.terms)) < len(topic.terms)] == []


def test_strings_are_folded_english_words() -> None:
    every = {string for topic in topics() for string in (*topic.terms, *topic.others)}
    assert [string for string in every if string != fold(string).casefold() or not string.isascii()] == []
    assert [string for string in every if string != " ".join(string.split())] == []
    pieces = {piece for string in every for piece in string.split()}
    assert [piece for piece in pieces if len(words(piece, humps=False)) != 1] == []


def test_no_expression_has_only_stop_words_or_one_letter() -> None:
    every = [each for topic in topics() for each in topic.expressions]
    assert [each for each in every if stems(each) <= STOP_WORDS or len(each) == 1] == []


def test_no_further_expression_is_one_of_another_topic() -> None:
    # A term may be equivalent to those of two topics.
    counted = Counter(stems(each) for topic in topics() for each in topic.others)
    assert [sorted(each) for each, times in counted.items() if times > 1] == []


def test_no_further_expression_contains_another_of_its_topic() -> None:
    redundant = [
        (shorter, longer)
        for topic in topics()
        for longer in topic.others
        for shorter in topic.expressions
        if stems(shorter) <= stems(longer) and shorter != longer
    ]
    assert redundant == []


MATCHING = {
    "reserve a table tonight": "restaurant reservation",
    "ATS for our recruiters": "ats",
    "which planes fly here": None,
    "satellite images of fields": "satellite imagery",
}


@pytest.mark.parametrize(("query", "name"), MATCHING.items())
def test_query_matches_the_topic(query: str, name: str | None) -> None:
    found = {match.concept.name for match in thesaurus().matches(words(query, humps=False)) if match.concept.is_topic}
    assert found >= {name} if name else not found


CONCEPTS = """
[[concept]]
terms = ["space"]
expressions = ["satellite", "imagery", "卫星"]

[[concept]]
terms = ["tv"]
expressions = ["satellite dish"]
"""

TOPICS = "equivalents\trelated\texpressions\nsatellite imagery\tlandsat\taerial photo\nimagery\t\t\n"


def names(query: str) -> list[str]:
    found = read_thesaurus(CONCEPTS, TOPICS).matches(words(query, humps=False))
    return sorted(match.concept.name for match in found)


def test_a_longer_expression_replaces_its_parts() -> None:
    assert names("satellite imagery") == ["satellite imagery"]
    assert names("satellite dish") == ["tv"]
    assert names("satellite") == ["space"]


def test_a_topic_replaces_a_concept_with_the_same_expression() -> None:
    assert names("imagery") == ["imagery"]


def test_expressions_in_other_scripts_are_not_compared() -> None:
    assert names("卫星 aerial photos") == ["satellite imagery", "space"]


def test_terms_of_a_topic_come_before_its_related_terms() -> None:
    (match,) = read_thesaurus(CONCEPTS, TOPICS).matches(words("aerial photos", humps=False))
    assert match.concept.terms == [("satellit", "imageri"), ("landsat",)]


FARMS = """equivalents\trelated\texpressions
agriculture\tfarm,crop\tcultivation
image editing\tcropping\tcrop
"""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("cultivation of crop", {"agriculture"}),
        ("crop and rotate", {"image editing"}),
        # A concept named by its words stays, and so do concepts of the same word.
        ("cultivation of cropping, image editing", {"agriculture", "image editing"}),
    ],
)
def test_a_word_that_is_a_term_of_another_concept_asks_for_no_other(query: str, expected: set[str]) -> None:
    entries = [make_entry("a/x", "agriculture farm crop"), make_entry("a/y", "image editing cropping")]
    index = index_of(*entries)
    collection = evolve(index.snapshot.collection, thesaurus=read_thesaurus("concept = []", FARMS))
    none = Translation([], [], frozenset(), "")
    assert {each.name for each in expansions(parse(query), none, collection)} == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("find servers", {"registry"}), ("find a server for invoices", set()), ("registries", {"registry"})],
)
def test_a_request_for_a_server_asks_for_no_concept_beside_its_topic(query: str, expected: set[str]) -> None:
    index = index_of(make_entry("a/x", "A registry of servers"), make_entry("a/y", "Invoices"))
    table = '[[concept]]\nterms = ["registry"]\nexpressions = ["find servers", "registries"]'
    collection = evolve(index.snapshot.collection, thesaurus=read_thesaurus(table))
    found = expansions(parse(query), Translation([], [], frozenset(), ""), collection)
    assert {each.name for each in found} == expected


UNITS = """equivalents\trelated\texpressions
unit conversion\tmeasure\tunit
restaurant reservation\tdining\tbook table
"""


@pytest.mark.parametrize(
    ("query", "rarest", "expected"),
    [
        ("restart the unit of journald", 0.9, {"unit conversion": True}),
        # A word that tells the topic, and is rarer than the concept's: one word of it may have another sense.
        ("restart the unit of journald", 9.0, {}),
        ("book a table at journald", 9.0, {"restaurant reservation": False}),
        # It is no rarer than the words of the concept.
        ("restart the unit of journald", 1.1, {"unit conversion": True}),
    ],
)
def test_a_concept_gives_way_to_a_rarer_word(
    monkeypatch: pytest.MonkeyPatch, query: str, rarest: float, expected: dict[str, bool]
) -> None:
    monkeypatch.setattr(concepts, "TELLING", 1.0)
    entries = [make_entry("a/x", "unit conversion measure"), make_entry("a/y", "restaurant reservation dining")]
    index = index_of(*entries, *(make_entry(f"b/{number}", "else") for number in range(9)))
    collection = evolve(index.snapshot.collection, thesaurus=read_thesaurus("concept = []", UNITS))
    found = expansions(parse(query), Translation([], [], frozenset(), ""), collection)
    evidence = concept_evidence(found, collection, query_weight=100.0, factor=1.0, rarest=rarest, translated={})
    assert {each.name: each.context > 0 for each in evidence} == expected


def test_a_conversion_in_the_other_direction_asks_for_no_concept() -> None:
    table = read_thesaurus(
        '[[concept]]\nterms = ["tts"]\nexpressions = ["text speech"]\n'
        '[[concept]]\nterms = ["stt"]\nexpressions = ["speech text", "audio text"]\n'
    )
    for query, expected in (
        ("speech to text", ["stt"]),
        ("convert my speech into text", ["stt"]),
        ("text to speech", ["tts"]),
        ("speech and text", ["tts", "stt"]),
    ):
        assert sorted(match.concept.name for match in table.matches(parse(query).words)) == sorted(expected), query
