"""Corrections of words: rare words beside them, and feedback, which does not run on corrected words alone."""

from __future__ import annotations

import pytest

from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import build_plan
from tests.contract.index import make_entry

from . import index_of


def allows_feedback(keywords: str) -> bool:
    index = index_of(*(make_entry(f"org.example/{number}", "Calendars and meetings of a week") for number in range(20)))
    return build_plan(parse(keywords), index.snapshot.collection).allows_feedback


def test_feedback_does_not_run_on_several_corrected_words() -> None:
    assert not allows_feedback("kalendars meetinks")


def test_feedback_runs_on_a_known_word_beside_a_corrected_one() -> None:
    assert allows_feedback("kalendars meetings")
    assert allows_feedback("calendars meetings")


def test_feedback_runs_on_one_misspelt_word() -> None:
    assert allows_feedback("kalendars")


@pytest.mark.usefixtures("large_collection")
def test_a_rare_word_is_rarer_than_its_corrections() -> None:
    servers = [make_entry(f"org.example/{number}", "A server of meetinks") for number in range(20)]
    index = index_of(make_entry("org.example/xserver", "Counts servir"), *servers)
    parts = build_plan(parse("servir meetinks"), index.snapshot.collection).parts
    (part,) = [part for part in parts if "servir" in part.stems]
    own, corrected = part.groups
    assert part.weight == own.idf > 2 * corrected.idf


def test_a_rare_word_of_the_table_is_no_misspelling() -> None:
    boxes = [make_entry(f"org.example/{number}", "Sells boxes") for number in range(20)]
    index = index_of(make_entry("org.example/foxes", "Counts foxes"), *boxes)
    parts = build_plan(parse("foxes"), index.snapshot.collection).parts
    assert [list(group.terms) for part in parts for group in part.groups] == [[index.snapshot.collection.find("fox")]]
