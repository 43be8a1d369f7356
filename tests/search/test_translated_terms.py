"""Entries that are described in Chinese, Japanese or Korean only, in searches in English."""

from __future__ import annotations

import pytest

from directory_server.search.index.translated_terms import (
    MAX_CHARACTERS,
    MAX_TERMS,
    MIN_WORDS,
    translated_term,
    translated_terms,
)
from tests.contract.index import make_entry

from . import index_of, search_names

OTHERS = [make_entry(f"org.example/{n}", "Something else") for n in range(40)]


@pytest.mark.parametrize(
    ("text", "query"),
    [("교사 법령 조회", "laws for teachers"), ("天气预报", "weather forecast"), ("請求書を作成", "invoices")],
)
def test_english_query_finds_an_entry_in_another_script(text: str, query: str) -> None:
    index = index_of(make_entry("org.example/wanted", text), *OTHERS)
    assert search_names(index, query) == ["org.example/wanted"]


def test_word_of_an_entry_counts_more_than_its_translation() -> None:
    entries = [make_entry("org.example/a", "天气"), make_entry("org.example/b", "Weather of many towns, and much else")]
    assert search_names(index_of(*entries, *OTHERS), "weather") == ["org.example/b", "org.example/a"]


def test_texts_with_an_english_one_have_none() -> None:
    assert translated_term("forecasts") in translated_terms(["MCP 天气预报"])
    assert translated_terms(["天气预报", "Shows the weather forecast"]) == set()
    assert translated_terms(["", "MCP server", "Привет мир снова и опять"]) == set()
    assert translated_terms(["天气 " + "名 " * MIN_WORDS + "Weather MCP"]) != set()


def test_terms_are_bounded() -> None:
    rare = "空" * MAX_CHARACTERS + "天气"
    assert translated_term("weather") not in translated_terms([rare])
    text = "".join(chr(code) + " " for code in range(0x4E00, 0x9F00))
    assert len(translated_terms([text[:MAX_CHARACTERS]] * 40)) <= MAX_TERMS
