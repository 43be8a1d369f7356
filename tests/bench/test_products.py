"""Generated misspellings of products."""

from __future__ import annotations

from bench.catalogue.products import ABBREVIATIONS, ProductQuery, product_queries


def test_cases_are_the_same_in_each_run() -> None:
    cases = [*product_queries()]
    assert cases == [*product_queries()]
    assert len({(each.form, each.q) for each in cases}) == len(cases) >= 300


def test_each_query_is_another_text_than_the_product() -> None:
    typed = [each for each in product_queries() if each.q not in ABBREVIATIONS]
    assert [each for each in typed if each.q == each.product] == []


def test_product_is_found_among_the_first_hits_only() -> None:
    case = ProductQuery("transposed", "gihtub", "git hub")
    assert case.found(["org.example/other", "org.example/x", "org.example/GitHub-tools"])
    assert not case.found(["a", "b", "c", "org.example/github"])
