"""Which texts of searches are counted."""

from __future__ import annotations

import pytest

from directory_server.features.statistics.rules import countable, day_of


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ("GitHub", "github"),
        ("  send   E-mail\n", "send e-mail"),
        ("查询 数据库", "查询 数据库"),
        ("s3 bucket eu-central-1", "s3 bucket eu-central-1"),
        ("authenticationmiddleware", "authenticationmiddleware"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_counts_the_text_of_a_search(keywords: str, text: str) -> None:
    assert countable(keywords) == text


@pytest.mark.parametrize(
    "keywords",
    [
        "",
        " ",
        "ann@example.org",
        "https://example.org/private",
        "mcpd_" + "a" * 38,
        "call +49 (171) 123 4567",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "x" * 81,
        "a b " * 50_000,
    ],
)
def test_leaves_out_texts_that_may_be_personal_or_secret(keywords: str) -> None:
    assert countable(keywords) == ""


def test_days_begin_at_midnight_utc() -> None:
    assert (day_of(86_399.9), day_of(86_400.0)) == (0, 1)
