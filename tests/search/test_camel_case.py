"""Names in camelCase in a query."""

from __future__ import annotations

import pytest

from bench.engines.explanation import explain
from directory_server.domain.search import Query
from directory_server.search.query.parsing import MIN_KNOWN
from tests.contract.index import make_entry

from . import index_of, search_names

WHOLE = [make_entry(f"org.example/whole-{n}", f"Runs TypeScript programs {n}") for n in range(MIN_KNOWN)]
HALVES = [make_entry(f"org.example/halves-{n}", f"Type a script {n}") for n in range(MIN_KNOWN)]
OTHERS = [make_entry(f"org.example/{n}", "Something else") for n in range(40)]


@pytest.mark.parametrize("query", ["TypeScript programs", "typescript programs"])
def test_known_name_is_one_word(query: str) -> None:
    index = index_of(*WHOLE, *HALVES, *OTHERS)
    names = search_names(index, query)
    assert {name.partition("-")[0] for name in names} == {"org.example/whole"}


def test_unknown_name_is_its_parts() -> None:
    index = index_of(*WHOLE[1:], *HALVES, *OTHERS)
    assert len(search_names(index, "TypeScript programs")) == len(WHOLE[1:]) + len(HALVES)


def test_abbreviation_of_one_entry_is_one_word() -> None:
    letters = [make_entry(f"org.example/letters-{n}", "Vitamin K and an F key, se") for n in range(MIN_KNOWN)]
    index = index_of(make_entry("org.example/invoices", "Sends invoices to KSeF"), *letters, *OTHERS)
    assert search_names(index, "faktury KSeF") == ["org.example/invoices"]


def test_name_of_one_entry_with_a_half_that_is_no_word_is_one_word() -> None:
    banks = [make_entry(f"org.example/bank-{n}", "Accounts of a bank") for n in range(MIN_KNOWN)]
    index = index_of(make_entry("org.example/charges", "Charges by PagBank"), *banks, *OTHERS)
    assert search_names(index, "charges PagBank") == ["org.example/charges"]


def test_parts_of_a_name_between_separators_stay_apart() -> None:
    index = index_of(*WHOLE, make_entry("org.example/x", "A linter"), *OTHERS)
    assert "org.example/x" in search_names(index, "TypeScript-linter")


def test_known_name_may_state_a_condition() -> None:
    index = index_of(*WHOLE, make_entry("org.example/x", "A linter written in TypeScript"), *OTHERS)
    assert "in typescript" in explain(index, Query("linter in TypeScript", 1))


def test_name_tells_no_language() -> None:
    hubs = [make_entry(f"org.example/github-{n}", "Issues on GitHub") for n in range(MIN_KNOWN)]
    index = index_of(*hubs, make_entry("org.example/train", "Train timetables"), *OTHERS)
    names = search_names(index, "tạo issue trên GitHub")
    assert len(names) == MIN_KNOWN
    assert "org.example/train" not in names
