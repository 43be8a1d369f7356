"""Categories of servers, mapped from what publishers write."""

from __future__ import annotations

import pytest

from directory_server.domain.categories import CATEGORIES, MAX_CATEGORIES, categories_of, category_of


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Communication", "communication"),
        ("communication & messaging", "communication"),
        ("Databases", "databases"),
        ("Data & Analytics", "data"),
        ("data-analytics", "data"),
        ("AI Memory & RAG", "knowledge"),
        ("Search & Data Extraction", "search"),
        ("Kubernetes", "cloud"),
        ("数据库交互", "databases"),
        ("금융·증시", "finance"),
        ("other tools and integrations", ""),
        ("Official Integrations", ""),
        ("", ""),
        ("x" * 10_000 + " databases", ""),
    ],
)
def test_spellings_of_a_category_are_one(label: str, expected: str) -> None:
    assert category_of(label) == expected


def test_tags_count_only_without_a_known_category_and_ai_comes_last() -> None:
    assert categories_of(["Security"], ["sqlite"]) == ("security",)
    assert categories_of(["Archived"], ["ai", "sqlite", "unknown words"]) == ("databases", "ai")
    assert categories_of([], ["sqlite browser of mine"]) == ()


def test_the_number_of_categories_is_bounded() -> None:
    assert len(categories_of(CATEGORIES, ())) == MAX_CATEGORIES
