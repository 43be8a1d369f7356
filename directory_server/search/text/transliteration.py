"""Loanwords: katakana, Cyrillic and Devanagari in Latin letters, and a key of English words that sound alike."""

from __future__ import annotations

import re

_KATAKANA = {
    "ア": "a", "イ": "i", "ウ": "u", "エ": "e", "オ": "o", "カ": "ka", "キ": "ki", "ク": "ku", "ケ": "ke", "コ": "ko",
    "ガ": "ga", "ギ": "gi", "グ": "gu", "ゲ": "ge", "ゴ": "go", "サ": "sa", "シ": "shi", "ス": "su", "セ": "se",
    "ソ": "so", "ザ": "za", "ジ": "ji", "ズ": "zu", "ゼ": "ze", "ゾ": "zo", "タ": "ta", "チ": "chi", "ツ": "tsu",
    "テ": "te", "ト": "to", "ダ": "da", "ヂ": "ji", "ヅ": "zu", "デ": "de", "ド": "do", "ナ": "na", "ニ": "ni",
    "ヌ": "nu", "ネ": "ne", "ノ": "no", "ハ": "ha", "ヒ": "hi", "フ": "fu", "ヘ": "he", "ホ": "ho", "バ": "ba",
    "ビ": "bi", "ブ": "bu", "ベ": "be", "ボ": "bo", "パ": "pa", "ピ": "pi", "プ": "pu", "ペ": "pe", "ポ": "po",
    "マ": "ma", "ミ": "mi", "ム": "mu", "メ": "me", "モ": "mo", "ヤ": "ya", "ユ": "yu", "ヨ": "yo", "ラ": "ra",
    "リ": "ri", "ル": "ru", "レ": "re", "ロ": "ro", "ワ": "wa", "ヲ": "o", "ン": "n", "ヴ": "vu", "ッ": "", "ー": "",
    "ァ": "-a", "ィ": "-i", "ゥ": "-u", "ェ": "-e", "ォ": "-o", "ャ": "-ya", "ュ": "-yu", "ョ": "-yo",
}  # fmt: skip

_CYRILLIC = dict(zip("абвгдезиклмнопрстуфхцыэ", "abvgdeziklmnoprstufhcye", strict=True)) | {
    "ж": "zh", "ч": "ch", "ш": "sh", "щ": "sh", "ъ": "", "ь": "", "ю": "yu", "я": "ya",
}  # fmt: skip

_DEVANAGARI_VOWELS = dict(
    zip("अआइईउऊएऐऑओऔऋ", ("a", "a", "i", "i", "u", "u", "e", "ai", "o", "o", "au", "ri"), strict=True)
)
_DEVANAGARI_SIGNS = dict(zip("ािीुूेैॉोौृ", ("a", "i", "i", "u", "u", "e", "ai", "o", "o", "au", "ri"), strict=True))
_DEVANAGARI = dict(zip("कखगघचजटठडढणतथदधनपफबभमयरलवसह", "kkggcjttddnttddnpfbbmyrlvsh", strict=True)) | {
    "छ": "ch", "झ": "jh", "श": "sh", "ष": "sh",
}  # fmt: skip

_LETTERS = _KATAKANA | _CYRILLIC | _DEVANAGARI | _DEVANAGARI_VOWELS | _DEVANAGARI_SIGNS | {"ं": "n", "ँ": "n", "्": ""}

_SOUNDS = [
    (re.compile(spelling), sound)
    for spelling, sound in (
        ("[tsc]ion|cian", "sn"), ("ph", "f"), ("gh", ""), ("ck|q", "k"), ("sch", "sk"), ("x", "ks"), ("t?ch", "C"),
        ("[sz]h", "s"), ("ts", "t"), ("th", "s"), ("c(?=[eiy])", "s"), ("c", "k"), ("dg|g(?=[ey])", "j"), ("ng$", "n"),
        ("ngu$", "n"), ("^[aeiouwy]+", "A"), ("[aeiouwy]", ""), ("[jz]", "s"), ("l", "r"), ("v", "b"), ("m", "n"),
        (r"(.)\1+", r"\1"),
    )
]  # fmt: skip
"""Spellings, and letters for the sounds of each that loanwords do not keep apart. Vowels count at the beginning."""

_SILENT_R = re.compile("r(?![aeiouy])")

_CONTRACTED = re.compile("[aeiou]-")


def romanised(word: str) -> str:
    """Return a word of katakana, Cyrillic or Devanagari in Latin letters; other letters are unchanged."""
    letters: list[str] = []
    for character in word:
        # A Devanagari consonant has the vowel a, unless a sign follows. Vowels do not count, so it is left out.
        letters.append(_LETTERS.get(character, character))
    return _CONTRACTED.sub("", "".join(letters))


def sound_key(word: str) -> str:
    """Return the key of the sound of a word in Latin letters. Words that sound alike have one key."""
    for spelling, sound in _SOUNDS:
        word = spelling.sub(sound, word)
    return word


def english_sound_keys(word: str) -> set[str]:
    """Return the keys of an English word, with r after vowels pronounced and silent."""
    return {sound_key(word), sound_key(_SILENT_R.sub("", word))}
