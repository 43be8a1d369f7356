"""Sanitizing of untrusted text: removed characters, and exceptions for scripts and emoji."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from directory_server.texts.sanitize import Cleaner, clean, clean_line, clean_text, is_visible, without_stacks

HOSTILE = {
    "bidi override": ("safe\u202egnp.exe", "safegnp.exe"),
    "isolates": ("a\u2066b\u2069c", "abc"),
    "arabic letter mark": ("a\u061cb", "ab"),
    "zero width": ("post\u200bgres\ufeff\u2060", "postgres"),
    "soft hyphen": ("post\u00adgres", "postgres"),
    "tags": ("hi" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore") + "!", "hi!"),
    "variation selectors as bytes": ("a" + "".join(map(chr, range(0xE0100, 0xE0110))), "a"),
    "variation selectors after an emoji": ("😀\ufe0f\ufe0f\ufe01", "😀\ufe0f"),
    "hangul fillers": ("a\u3164\u115f\uffa0b", "ab"),
    "mongolian and khmer": ("\u180e\u17b4\u034f", ""),
    "terminal escapes": ("\x1b[2J\x1b]0;x\x07red", "\ufffd[2J\ufffd]0;x\ufffdred"),
    "c1 controls": ("\x9b31m", "\ufffd31m"),
    "carriage return": ("real\rfake", "real\nfake"),
    "other ends of lines": ("a\u2028b\u2029c\x85d\x0be\r\nf", "a\nb\nc\nd\ne\nf"),
    "private use": ("\ue000\U000f0000x", "\ufffdx"),
    "unassigned": ("\U000ffffe\u0378x", "\ufffdx"),
    "half a character": ("\ud83dx", "\ufffdx"),
    "joiners in Latin": ("pay\u200dpal\u200c.com", "paypal.com"),
    "joiners in a row": ("क्\u200d\u200d\u200dष", "क्\u200dष"),
    "a joiner before nothing": ("👩\u200d", "👩"),
    "characters without ink": ("a\u2800\u2800b\ufffcc\U0001d159d\U00016fe4e\U00013441f", "a b c d e f"),
}

READABLE = [
    "plain ASCII ~",
    "two\nlines\tand a tab",
    "Größe, naïve, Ελληνικά, Русский",
    "数据库查询　与　监控",
    "日本語のテキスト、한국어 텍스트",
    "مرحبا بالعالم، ١٢٣ ﷺ",
    "می\u200cخواهم کتاب\u200cها",
    "\u06dd٣",
    "नमस्ते दुनिया, क्\u200dष, शरद्\u200cचन्द्र",
    "র\u200d্যাম",
    "ශ්\u200dරී ලංකාව",
    "ภาษาไทย ខ្មែរ தமிழ்",
    "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 👩🏽\u200d💻 ❤️\u200d🔥 🧑🏻\u200d🤝\u200d🧑🏿",
    "1️⃣ ☎︎ 🇩🇪 👍🏾 🫨",
    "e\u0301 und Zalgo\u0337\u0321",
]


@pytest.mark.parametrize(("text", "cleaned"), HOSTILE.values(), ids=HOSTILE)
def test_invisible_and_control_characters_are_removed(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_many_unsafe_characters_disable_the_exceptions() -> None:
    assert clean("क्\u200dष\u200b" * 10_000) == "क्ष" * 10_000
    with pytest.raises(OverflowError):
        Cleaner(100_000).copy(["\u200b\n\x1b" * 100] * 30)


@pytest.mark.parametrize("text", READABLE)
def test_legitimate_text_is_unchanged(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize("text", [*READABLE, "a\u0302\u0323 Vie\u0302\u0323t", "בְּרֵאשִׁ֖ית", "ཧཀྵྨླྺྼྻྂ"])
def test_combining_marks_do_not_cover_other_lines(text: str) -> None:
    assert without_stacks(text) == text
    assert without_stacks(f"{text} o" + "\u0301\u0489" * 99) == f"{text} o" + "\u0301\u0489" * 4


INKLESS = regex.compile(r"\b(BLANK|FILLER|FILL|SPACE|NULL|INVISIBLE|EMPTY|VOID|PLACEHOLDER|REPLACEMENT)\b")

WITH_INK = {
    *("EMPTY SET", "SYMBOL FOR", "BLANK SYMBOL", "REVERSED EMPTY", "VOID NOTEHEAD", "GAP FILLER", "PLACEHOLDER MARK"),
    *("EMPTY CENTRE", "LINE FILLER", "FILL MODIFIER", "INDIC SIYAQ", "EMPTY NOTE", "EMPTY DOCUMENT", "EMPTY PAGE"),
    *("EMPTY NEST", "HORIZONTAL FILL", "BOARD FILL", "RIGHT FILL", "LEFT FILL", "VERTICAL FILL", "CROSSHATCH FILL"),
    *("HALF FILL SPACE", "SIGNWRITING LOCATION", "BLANK CORNER", "REPLACEMENT CHARACTER"),
}
"""Parts of names of visible characters."""


def test_characters_whose_names_say_that_they_have_no_ink_are_not_visible() -> None:
    """No property tells so. A character of a new Unicode that is named like one fails here."""
    for character in map(chr, range(0x110000)):
        name = unicodedata.name(character, "")
        if INKLESS.search(name) and not any(part in name for part in WITH_INK) and character != " ":
            assert not is_visible(f"a{character}b"), name
            assert clean(character).strip() == "" or unicodedata.category(character) == "Zs", name


@pytest.mark.parametrize(
    "character",
    [
        *"\n\t\x00\x7f\x85\xa0\xad\u034f\u115f\u1680\u180e\u2003\u200b\u200d\u2028\u202e\u205f\u2060\u2800\u3000",
        *"\u3164\ue000\ufe0f\ufeff\uffa0\ufffc\ufff9\ud800\U0001d159\U0001d173\U00016fe4\U000e0041\U000e0100\u0378☃",
    ],
)
def test_values_for_programs_have_only_visible_characters(character: str) -> None:
    assert not is_visible(f"a{character}b")


def test_visible_values() -> None:
    for text in ("", "a b", "--x=1,2;[3]{4}", "Größe", "e\u0301", "数据", "مرحبا", "शरद्चन्द्र", "5 € ≤ ∞", "`~^"):
        assert is_visible(text), text


ODD = st.sampled_from(
    "\u200c\u200d\ufe0f\u202e\x1b\r\n\ue000\U000e0041\u094d\u0915\u0628\u06cc\u0645👩❤🏽1\u20e3 a\ud800\u3164\u0301"
)


@given(st.text(st.characters() | ODD))
def test_cleaned_text_has_no_unsafe_property(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    needed = set("\u200c\u200d\ufe0e\ufe0f\n\t") | {
        chr(each) for each in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)
    }
    # What this Python does not know yet the library may.
    wrong = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
    assert not [each for each in set(cleaned) - needed if unicodedata.category(each) in wrong]


@given(st.text(st.characters() | ODD), st.integers(2, 40))
def test_cleaned_text_is_bounded_and_cleaning_is_idempotent(text: str, limit: int) -> None:
    for cut in (clean_line, clean_text):
        shown = cut(text, limit)
        assert len(shown) <= limit
        assert clean(shown) == shown
    assert "\n" not in clean_line(text, limit)


def test_truncated_text_ends_with_an_ellipsis() -> None:
    assert clean_line("one\n two  three", 100) == "one two three"
    assert clean_line("one two three", 8) == "one two…"
    assert clean_line("\u200b" * 1_000 + "late", 10) == "…"
    assert clean_text("\none\n\ntwo ", 100) == "one\n\ntwo"


def test_nested_values_are_cleaned() -> None:
    value = {"na\u200bme": ["\x1b[1m", {"a": None, "b": [1, 2.5, True]}], "ü": "\u202eü"}
    cleaner = Cleaner(1_000)
    assert cleaner.copy(value) == {"name": ["\ufffd[1m", {"a": None, "b": [1, 2.5, True]}], "ü": "ü"}
    assert cleaner.changed


def test_clean_value_is_unchanged() -> None:
    cleaner = Cleaner(1_000)
    value = {"a": ["ü", "x\ny", 1]}
    assert cleaner.copy(value) == value
    assert not cleaner.changed


def test_values_share_the_limit_of_a_cleaner() -> None:
    cleaner = Cleaner(100)
    assert cleaner.copy("x" * 60) == "x" * 60
    with pytest.raises(OverflowError):
        cleaner.copy("x" * 60)


@pytest.mark.parametrize("value", ["x" * 93, ["x"] * 11, {"x": "y" * 90}, [[]] * 12, list(range(12)), {"x" * 80: 1}])
def test_value_over_the_limit_raises(value: Any) -> None:
    with pytest.raises(OverflowError):
        Cleaner(100).copy(value)
