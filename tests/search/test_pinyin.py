"""The table of pinyin is that of pypinyin."""

from __future__ import annotations

import os
import sys

import pytest

from directory_server.search.text.transliteration import pinyin


def test_each_character_has_the_most_common_reading_of_pypinyin(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without the table of phrases, which takes 40 MB.
    monkeypatch.setitem(os.environ, "PYPINYIN_NO_PHRASES", "true")
    pypinyin = pytest.importorskip("pypinyin")
    for code in [*range(0x2E80, 0xD800), *range(0xF900, 0xFB00), *range(0x20000, 0x20400)]:
        assert pinyin(chr(code)) == ["".join(pypinyin.lazy_pinyin(chr(code), errors="ignore"))], hex(code)


@pytest.mark.parametrize("character", ["a", "é", "あ", "한", "", "😀", "\ud800", chr(sys.maxunicode)])
def test_other_characters_have_none(character: str) -> None:
    assert pinyin(character) == [""] * len(character)


def test_each_character_of_a_run_has_a_syllable() -> None:
    assert pinyin("微信 wx") == ["wei", "xin", "", "", ""]
