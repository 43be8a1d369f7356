"""Filters in search words."""

from __future__ import annotations

import pytest

from directory_server.domain.errors import BadInput
from directory_server.domain.filters import (
    FILTERS,
    WrongFilter,
    check_filters,
    filter_value,
    likely_keywords,
    wrong_filter,
)


@pytest.mark.parametrize(
    "keywords",
    [
        "mail",
        "https://example.org/license:mit",
        "auth: none",
        "flavour:sweet",
        "tag:anything package:cargo",
        "transport:streamable-http transport:SSE",
        'language:"C#" language:c++ language:golang language:Rust',
        'license:"Apache License 2.0" license:MIT license:gpl-3.0-only license:other',
        "auth:none|key tag:a|b namespace:com.acme|io.github.acme",
        *(f"{name}:{value}" for name, values in FILTERS.items() for value in values),
    ],
)
def test_allowed_values_are_accepted(keywords: str) -> None:
    check_filters(keywords)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ("mail runs:cloud", "keywords: runs: must be local, remote or unknown, not 'cloud'."),
        ("AUTH:password", "keywords: auth: must be none, key, oauth or unknown, not 'password'."),
        ("official:yes", "keywords: official: must be true or false, not 'yes'."),
        ("auth:none|secret", "keywords: auth: must be none, key, oauth or unknown, not 'none|secret'."),
        ("auth:|", "keywords: auth: must be none, key, oauth or unknown, not '|'."),
        ('mail transport:"web socket"', "keywords: transport: must be stdio, http or sse, not 'web socket'."),
    ],
)
def test_other_values_are_rejected_with_the_allowed_ones(keywords: str, message: str) -> None:
    with pytest.raises(BadInput) as error:
        check_filters(keywords)
    assert error.value.message == message


def test_the_first_wrong_filter_is_named_and_a_long_value_cut() -> None:
    assert wrong_filter(f"runs:local language:{'x' * 200} auth:x") == WrongFilter("language", "x" * 50)
    assert wrong_filter("runs:local") is None


def test_values_have_a_canonical_form() -> None:
    assert filter_value("language", '"C#"') == "csharp"
    assert filter_value("license", '"The MIT License"') == "mit"
    assert filter_value("license", "Apache-2.0") == "apache-2.0"
    assert filter_value("license", "beerware") == "beerware"
    assert filter_value("transport", "streamable-http") == "http"
    assert filter_value("tag", '"Vector Database"') == "Vector Database"


@pytest.mark.parametrize(
    ("keywords", "likely"),
    [
        ("mail lang:rust fast", "mail language:rust fast"),
        ("licence:mit lang:rust", "license:mit lang:rust"),
        ('Lang:"C++"', 'language:"C++"'),
        ("lang:klingon", ""),
        ("language:rust", ""),
        ("http://example.org", ""),
        ("tags:mail", ""),
        ("note: rust", ""),
    ],
)
def test_an_unknown_filter_with_a_known_value_is_likely_another(keywords: str, likely: str) -> None:
    assert likely_keywords(keywords) == likely
