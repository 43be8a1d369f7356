"""Words on any topic weigh less beside others."""

from __future__ import annotations

import pytest

from directory_server.search import ImpactIndex
from directory_server.search.query.exclusions import GENERAL_STEMS, GENERAL_WORDS, STOP_WORDS
from directory_server.search.query.parsing import parse
from directory_server.search.query.plan import GENERAL_WEIGHT, build_plan
from directory_server.search.text.analysis import stem
from tests.contract.index import make_entry

from . import index_of, search_names

TOPICS = "word words person order open run view list place course care case business container reason specification"


def make_index() -> ImpactIndex:
    return index_of(
        make_entry("org.example/pharmacy", "Looks up medicines"),
        make_entry("org.example/crowd", "Brings teams together"),
        make_entry("org.example/keep", "Notes of Keep"),
        *(make_entry(f"org.example/{number}", "Medicines of a shop, number by number") for number in range(9)),
        *(make_entry(f"org.example/other-{number}", "Something else, of notes") for number in range(20)),
    )


def weights(keywords: str) -> dict[str, float]:
    index = make_index()
    plan = build_plan(parse(keywords), index.snapshot.collection)
    return {term: part.weight for part in plan.parts for term in part.stems}


def test_a_general_word_weighs_less_beside_others() -> None:
    alone, beside = weights("together"), weights("together medicines")
    assert beside["togeth"] == pytest.approx(GENERAL_WEIGHT * alone["togeth"])
    assert beside["medicin"] == weights("medicines")["medicin"]


def test_general_words_alone_keep_their_weight() -> None:
    assert weights("together brings")["togeth"] == weights("together")["togeth"]


def test_a_rare_general_word_does_not_decide() -> None:
    assert search_names(make_index(), "medicines that are taken together")[0] == "org.example/pharmacy"


def test_a_general_word_in_names_keeps_its_weight_in_a_short_query() -> None:
    assert weights("notes keep")["keep"] == weights("keep")["keep"]
    sentence = weights("notes keep medicines shop teams brings")
    assert sentence["keep"] == pytest.approx(GENERAL_WEIGHT * weights("keep")["keep"])


def test_a_general_word_is_not_corrected() -> None:
    token = [make_entry(f"org.example/{number}", "Tokens, medicines") for number in range(9)]
    index = index_of(*token, make_entry("org.example/x", "Something"))
    plan = build_plan(parse("medicines taken"), index.snapshot.collection)
    assert [group.label for group in plan.groups if group.label == "taken"] == []


def test_the_list_has_no_stop_words_and_no_stems_of_topics() -> None:
    assert not GENERAL_WORDS & STOP_WORDS
    assert not GENERAL_STEMS & {stem(word) for word in TOPICS.split()}
