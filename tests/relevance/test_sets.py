"""The form of the relevance sets."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.catalogue.files import QUERIES, read_judged
from bench.catalogue.sets import HALVES, KINDS, MIXED, NO_ANSWER, SETS, GradedQuery, half_of, read_set, set_files

LANGUAGES = {
    "cjk": {"zh", "ja", "ko"},
    "other_languages": {"de", "es", "fr", "pt", "ru", "ar", "hi", "vi"},
    "cjk_2": {"zh", "ja", "ko"},
    "other_languages_2": {"de", "es", "fr", "pt", "it", "ru", "ar", "hi", "vi", "tr", "id"},
    "cjk_3": {"zh", "ja", "ko"},
    "other_languages_3": {"de", "es", "fr", "pt", "it", "ru", "ar", "hi", "vi", "tr", "id", "pl"},
    "cjk_4": {"zh", "ja", "ko"},
    "other_languages_4": {"de", "es", "fr", "pt", "it", "ru", "ar", "id", "nl", "pl", "tr"},
    "cjk_7": {"zh", "ja", "ko"},
    "other_languages_7": {"de", "es", "fr", "pt", "it", "ru", "ar", "nl", "pl", "tr", "sv", "fi"},
    "translated": {"de", "es", "fr", "pt", "ru", "zh", "ja", "ko"},
}
"""The languages of the queries of a kind; English for other kinds."""

LEAST = 30
"""Queries of a set."""

LEAST_OF_A_LANGUAGE = {"other_languages_3": 1, "other_languages_4": 1, "other_languages_7": 1}
"""Queries of each language, by kind; OTHERWISE for other kinds."""

OTHERWISE = 4

GOOD = 2
"""Each query has at least one entry of this grade."""


def problems(name: str, queries: Sequence[GradedQuery]) -> list[str]:
    """Return what is wrong with the queries of a set."""
    kinds = MIXED.get(name, (name,))
    found = [f"{kind} is not a kind" for kind in kinds if kind not in KINDS]
    found += [f"{len(queries)} queries, fewer than {LEAST}"] if len(queries) < LEAST else []
    for kind in kinds:
        found += _rare(kind, [each for each in queries if each.kind == kind])
    for each in queries:
        languages = LANGUAGES.get(each.kind, {"en"})
        checks = {
            "has another kind": each.kind in kinds,
            "is of the other half": each.half == half_of(each.query),
            "is in another language": each.language in languages,
            "has a translation without need, or none": bool(each.english) == (each.language != "en"),
            "is empty or has spaces at its ends": bool(each.query) and each.query == each.query.strip(),
            "has an unknown grade": all(type(grade) is int and 0 <= grade <= 3 for grade in each.grades.values()),
            "has no good entry": max(each.grades.values(), default=0) >= GOOD,
        }
        found += [f"{each.query!r} {problem}" for problem, passed in checks.items() if not passed]
    return found


def _rare(kind: str, queries: Sequence[GradedQuery]) -> list[str]:
    """Return the languages and halves of which the queries of a kind have too few."""
    least = LEAST_OF_A_LANGUAGE.get(kind, OTHERWISE)
    counted = Counter(each.language for each in queries)
    found = [f"{language} is rare" for language in sorted(LANGUAGES.get(kind, {"en"})) if counted[language] < least]
    halves = {each.half for each in queries}
    return found + [f"no query of {kind} is of the half {half}" for half in HALVES if half not in halves]


@pytest.mark.parametrize("path", set_files(), ids=lambda path: path.stem)
def test_set_has_its_form(path: Path) -> None:
    assert problems(path.stem, read_set(path)) == []


def test_queries_without_an_answer_have_their_form() -> None:
    queries = read_set(SETS / f"{NO_ANSWER}.jsonl")
    assert len(queries) >= LEAST
    assert {each.half for each in queries} == {*HALVES}
    assert all(each.kind == NO_ANSWER and each.half == half_of(each.query) for each in queries)
    assert all(bool(each.english) == (each.language != "en") and not each.grades for each in queries)


def test_queries_are_distinct() -> None:
    files = [*set_files(), SETS / f"{NO_ANSWER}.jsonl"]
    counted = Counter(each.query.casefold() for path in files for each in read_set(path))
    assert [query for query, count in counted.items() if count > 1] == []


def test_no_query_is_in_the_judged_queries(shared_data: Path) -> None:
    judged = {each.q.casefold() for path in QUERIES for each in read_judged(path)}
    assert [each.query for path in set_files() for each in read_set(path) if each.query.casefold() in judged] == []


def test_graded_entries_exist(shared_data: Path) -> None:
    with gzip.open(shared_data / "entries.jsonl.gz") as lines:
        names = {json.loads(line)["server"]["name"] for line in lines}
    graded = {name for path in set_files() for each in read_set(path) for name in each.grades}
    assert sorted(graded - names) == []


def test_sets_are_in_the_folder_of_this_test() -> None:
    assert Path(__file__).parent == SETS
