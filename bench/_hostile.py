"""Queries that are made to be slow: many words, rare words, common words, long runs, every kind of syntax."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from string import ascii_lowercase

from directory_server.domain.entries import Entry

LENGTH = 256
"""Characters of the longest query that the doors let pass."""


def hostile(entries: Sequence[Entry], *, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield what each query tries, and the query: the same for the same entries and seed."""
    random = Random(seed)
    counted = Counter(word for entry in entries for word in set(entry.brief.casefold().split()) if word.isalpha())
    common = [word for word, _ in counted.most_common(400)]
    rare = sorted(word for word, count in counted.items() if count == 1 and word.isascii())
    pairs = ["".join(pair) for pair in product(ascii_lowercase, repeat=2)]
    for name, words in {
        "common words": common[:60],
        "less common words": common[60:],
        "rare words": random.sample(rare, min(len(rare), 60)),
        "rare words, each misspelt": [word[:-2] + word[-1] + word[-2] for word in rare[:: max(len(rare) // 60, 1)]],
        "words of two letters": random.sample(pairs, 85),
        "words of frequent letters": ["".join(random.choices("etaoinshr", k=9)) for _ in range(26)],
        "words of any letters": ["".join(random.choices(ascii_lowercase, k=6)) for _ in range(37)],
        "numbers": [str(number) for number in range(90)],
        "letters": list(ascii_lowercase) * 5,
        "Chinese characters": [chr(0x4E00 + random.randrange(8_000)) for _ in range(128)],
        "words to leave out": [f"-{word}" for word in common[:60]],
        "phrases of one word": [f'"{word}"' for word in common],
        "phrases of one letter": [f'"{letter}"' for letter in ascii_lowercase],
        "tags": [f"tag:{word}" for word in common],
        "filters": ["official:true", "transport:stdio", "package:npm"] * 6,
    }.items():
        yield name, " ".join(words)[:LENGTH]
    for name, text in {
        "one letter": "a" * LENGTH,
        "punctuation": ".,-_/" * 52,
        "parts of one name": "-".join(random.sample(pairs, 85)),
        "humps": "aB" * 128,
        "a run of Chinese": "".join(chr(0x4E00 + random.randrange(20_000)) for _ in range(LENGTH)),
        "a run of Korean": "".join(chr(0xAC00 + random.randrange(11_000)) for _ in range(LENGTH)),
        "a run of Thai": "ก" * LENGTH,
        "characters that stand for eighteen": "\ufdfa" * LENGTH,
        "one letter with 255 accents": "e" + "\u0301" * 255,
        "scripts mixed": "a读bカcд " * 32,
        "syntax": '(AND OR NOT * ~ ^ : " ' * 12,
        "lone surrogates": "\ud800\udfff a\ud800 " * 40,
        "control characters": "\x00\x1b[31m mail \x7f" * 16,
        **{f"the letter {letter}": letter for letter in "msa"},
        **{f"the beginning {beginning}": beginning for beginning in ("mc", "mcp-", "mcp-server-", "se", "server ")},
    }.items():
        yield name, text[:LENGTH]
