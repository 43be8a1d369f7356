"""The data of the thesaurus follows its rules."""

from __future__ import annotations

import tomllib
import unicodedata
from collections import Counter
from functools import cache
from importlib.resources import files

from attrs import frozen

from directory_server.search.query.exclusions import STOP_WORDS
from directory_server.search.text.analysis import tokens, words
from directory_server.search.text.thesaurus import singular
from directory_server.search.text.thesaurus import thesaurus as package_thesaurus

MAX_TERMS = 8


@frozen
class Concept:
    terms: tuple[str, ...]
    expressions: tuple[str, ...]


@frozen
class Parts:
    """The parts of an expression or query: words of scripts with spaces, and runs of scripts without."""

    spaced: frozenset[str]
    runs: tuple[str, ...]

    def within(self, other: Parts) -> bool:
        return self.spaced <= other.spaced and all(any(run in whole for whole in other.runs) for run in self.runs)


@cache
def parts(text: str) -> Parts:
    found = list(words(text, humps=False))
    spaced = frozenset(singular(part) for word in found if word.spaced for part in word.parts)
    return Parts(spaced, tuple(word.parts[0] for word in found if not word.spaced))


@cache
def thesaurus() -> tuple[Concept, ...]:
    text = files("directory_server.search").joinpath("data", "thesaurus.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    assert list(document) == ["concept"]
    assert all(concept.keys() == {"terms", "expressions"} for concept in document["concept"])
    return tuple(Concept(tuple(concept["terms"]), tuple(concept["expressions"])) for concept in document["concept"])


def strings() -> list[str]:
    return [string for concept in thesaurus() for string in (*concept.terms, *concept.expressions)]


def test_every_concept_has_expressions_and_few_terms() -> None:
    assert thesaurus()
    assert [concept for concept in thesaurus() if not concept.expressions] == []
    assert [concept.terms for concept in thesaurus() if not 1 <= len(concept.terms) <= MAX_TERMS] == []


def test_terms_are_one_word_or_two() -> None:
    every = {term for concept in thesaurus() for term in concept.terms}
    assert [term for term in every if not 1 <= len(tokens(term)) <= 2] == []
    assert every & STOP_WORDS == set()


def test_strings_are_folded() -> None:
    def folded(string: str) -> str:
        return " ".join(unicodedata.normalize("NFKC", string).casefold().split())

    assert [string for string in strings() if string != folded(string)] == []


def test_strings_are_words_of_one_script_separated_by_spaces() -> None:
    pieces = {piece for string in strings() for piece in string.split(" ")}
    assert [piece for piece in pieces if not all(c.isalnum() or unicodedata.category(c)[0] == "M" for c in piece)] == []
    assert [piece for piece in pieces if len(list(words(piece, humps=False))) != 1] == []


def test_no_expression_is_one_stop_word() -> None:
    every = {each: set(each.split(" ")) for concept in thesaurus() for each in concept.expressions}
    assert [each for each, used in every.items() if used <= STOP_WORDS and len(used) == 1] == []
    assert [each for each in every if each.isascii() and len(each) == 1] == []


def test_no_two_concepts_have_the_same_terms() -> None:
    counted = Counter(frozenset(concept.terms) for concept in thesaurus())
    assert [concept_terms for concept_terms, times in counted.items() if times > 1] == []


def test_no_term_repeats_another_of_its_concept() -> None:
    found = {concept.terms: {tuple(tokens(term)) for term in concept.terms} for concept in thesaurus()}
    assert [concept_terms for concept_terms, different in found.items() if len(different) < len(concept_terms)] == []


def test_no_expression_contains_another_of_its_concept() -> None:
    redundant = [
        (shorter, longer)
        for concept in thesaurus()
        for index, shorter in enumerate(concept.expressions)
        for other, longer in enumerate(concept.expressions)
        if index != other and parts(shorter).within(parts(longer))
    ]
    assert redundant == []


MATCHING = {
    "Who do I still owe money?": "splitwise",
    "umbrella tomorrow?": "weather",
    "where is the file I lost": "file search",
    "明天要带伞吗": "weather",
    "幫我訂一張高鐵票": "train",
    "冷蔵庫の残り物": "recipe",
    "이 보고서 요약해줘": "summarize",
    "Übersetze das": "translation",
    "un appartement à louer": "real estate",
    "найди мне вакансии": "job search",
}

NOT_MATCHING = {
    "book flight": "book",
    "log in": "logs",
    "time series": "movie",
    "docker compose": "music generation",
    "docker compose logs": "spotify",
    "hacker news": "penetration testing",
    "スキーマ": "ski",
    "プロトコル": "betting",
    "자동화": "novel",
    "전세계": "real estate",
    "加密货币": "encryption",
    "机器学习": "education",
}


def test_queries_match_concepts() -> None:
    found = {
        query: {match.concept.name for match in package_thesaurus().matches(words(query, humps=False))}
        for query in (*MATCHING, *NOT_MATCHING)
    }
    assert {query: term for query, term in MATCHING.items() if term not in found[query]} == {}
    assert {query: term for query, term in NOT_MATCHING.items() if term in found[query]} == {}
    assert {*NOT_MATCHING.values()} <= {concept.terms[0] for concept in thesaurus()}, "a concept has another first term"
