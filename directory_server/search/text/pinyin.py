"""Chinese characters as they are spelt in Latin letters."""

from __future__ import annotations

import os

# Its table of phrases takes 40 MB, and the commonest reading of each character does for names.
os.environ.setdefault("PYPINYIN_NO_PHRASES", "true")

from pypinyin import lazy_pinyin


def pinyin(run: str) -> list[str]:
    """Return the syllable of each character, without tones; empty for what is no Chinese character."""
    # One at a time: a run of other characters comes back as one, and a character without a reading as none.
    return ["".join(lazy_pinyin(character, errors="ignore")) for character in run]
