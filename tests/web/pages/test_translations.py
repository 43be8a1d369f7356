"""The words on the pages: the same in every language, and the language that people ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.client_config import REASONS, WARNINGS
from directory_server.web.pages._translations import LANGUAGES, choose, load

TEXTS = load()


def places(text: str) -> set[str]:
    return set(re.findall(r"{(\w+)}", text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_texts(language: str) -> None:
    assert TEXTS[language].keys == TEXTS["en"].keys


@pytest.mark.parametrize("key", sorted(TEXTS["en"].keys))
def test_a_text_takes_the_same_values_in_every_language(key: str) -> None:
    # A form for one may leave the number out.
    for texts in TEXTS.values():
        assert texts.template(key).strip()
        assert places(texts.template(key)) - {"count"} == places(TEXTS["en"].template(key)) - {"count"}


@pytest.mark.parametrize(("table", "messages"), [("reason", REASONS), ("warning", WARNINGS)])
def test_every_notice_of_an_installation_has_a_text(table: str, messages: Mapping[str, str]) -> None:
    assert {name for name in TEXTS["en"].keys if name.startswith(f"{table}.")} == {
        f"{table}.{code}" for code in messages
    }
    for code, message in messages.items():
        assert places(TEXTS["en"].template(f"{table}.{code}")) == places(message)


def test_chinese_is_chinese() -> None:
    untranslated = [key for key in TEXTS["zh"].keys if not re.search(r"[\u4e00-\u9fff]", TEXTS["zh"].template(key))]
    assert untranslated == []


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("zh-Hant-TW", "zh"),
        ("en-GB,zh;q=0.5", "en"),
        ("fr, zh;q=0.3, en;q=0.2", "zh"),
        ("fr", "en"),
        ("zh;q=0, en;q=0.1", "en"),
        ("*", "en"),
        (";;;q=x", "en"),
    ],
)
def test_the_language_is_the_one_that_is_asked_for(accepted: str, language: str) -> None:
    assert choose(accepted) == language


@given(st.text(st.characters(max_codepoint=255)))
def test_whatever_is_asked_for_there_is_a_language(accepted: str) -> None:
    assert choose(accepted) in LANGUAGES


def test_one_has_a_form_of_its_own_where_a_language_has_it() -> None:
    assert TEXTS["en"]("error.retry", count=1) == "Try again in 1 second."
    assert TEXTS["en"]("error.retry", count=2) == "Try again in 2 seconds."
