"""Pinyin of Chinese characters."""

from __future__ import annotations

import os

# The table of phrases takes 40 MB. For names, the most common reading of each character is enough.
os.environ.setdefault("PYPINYIN_NO_PHRASES", "true")

from pypinyin import lazy_pinyin


def pinyin(run: str) -> list[str]:
    """Return the syllable of each character, without tones; empty for other characters than Chinese."""
    # One character at a time: lazy_pinyin joins other characters, and omits characters without a reading.
    return ["".join(lazy_pinyin(character, errors="ignore")) for character in run]
