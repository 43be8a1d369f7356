"""Generated queries: pairs of words, known items, and queries that are slow on purpose.

A known item is an entry whose name is typed in several ways and searched for. It needs no judge, so there can be many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, cycle, islice, product
from random import Random
from string import ascii_lowercase, digits

from attrs import frozen

from directory_server.domain.entries import Entry

FORMS: Mapping[str, int] = {"full_name": 1, "owner_and_part": 1, "part": 1, "one_edit": 10, "cut": 10}
"""The ways to type a name, and the number of first hits that must contain the entry."""

CUT = 3
"""Characters that are missing at the end of a cut name."""

LENGTH = 256
"""Characters of the longest query that is searched for as it is."""

LONGEST = 4_096
"""Characters of the longest query that the APIs accept."""

REPEATED = 20
"""Different queries among repeated ones."""


def word_pairs(entries: Sequence[Entry], count: int, *, distinct: bool) -> list[str]:
    """Return `count` queries of two words that occur together in a title or description, in a fixed random order.

    If `distinct` is false, REPEATED different queries repeat.
    """
    texts = [[word for word in f"{entry.title} {entry.brief}".lower().split() if word.isalpha()] for entry in entries]
    pairs = sorted({f"{min(pair)} {max(pair)}" for words in texts for pair in combinations(set(words), 2)})
    Random(1).shuffle(pairs)
    if not distinct:
        return list(islice(cycle(pairs[:REPEATED]), count))
    if len(pairs) < count:
        # A small catalogue has fewer pairs. A number makes another query of the same words.
        pairs = [f"{pair} {number}" for number in range(count // len(pairs) + 1) for pair in pairs]
    return pairs[:count]


@frozen
class KnownItem:
    """A query, its form in FORMS, and the name of the entry that it searches for."""

    form: str
    q: str
    name: str

    def found(self, hits: Sequence[str]) -> bool:
        return self.name in hits[: FORMS[self.form]]


def known_items(entries: Sequence[Entry], count: int, *, seed: int = 0) -> Iterator[KnownItem]:
    """Yield each form of `count` random names whose last part no other name has, in any letter case."""
    parts = Counter(_part(entry.name).casefold() for entry in entries)
    unique = sorted(entry.name for entry in entries if parts[_part(entry.name).casefold()] == 1)
    random = Random(seed)
    for name in random.sample(unique, min(count, len(unique))):
        namespace, _, part = name.rpartition("/")
        yield KnownItem("full_name", name, name)
        yield KnownItem("owner_and_part", f"{namespace.rpartition('.')[2]} {part}", name)
        yield KnownItem("part", part, name)
        yield KnownItem("one_edit", misspelt(part, random), name)
        if len(part) > CUT:
            yield KnownItem("cut", part[:-CUT], name)


def misspelt(part: str, random: Random) -> str:
    """Return `part` with one edit in its longest word: a deletion, insertion, substitution or transposition.

    The edit always changes the word (Damerau 1964: these four are 80 % of all typing errors).
    """
    found = max(re.finditer(r"[^\W_]+", part), key=lambda word: len(word[0]), default=None)
    if found is None:
        return part
    word = found[0]
    edited = word
    while edited in ("", word):
        at = random.randrange(len(word))
        before, here, behind = word[:at], word[at], word[at + 1 :]
        other = random.choice(digits if here.isdigit() else ascii_lowercase)
        swapped = f"{behind[:1]}{here}{behind[1:]}"
        edited = before + random.choice((behind, other + here + behind, other + behind, swapped))
    return part[: found.start()] + edited + part[found.end() :]


def _part(name: str) -> str:
    return name.rpartition("/")[2]


def hostile(entries: Sequence[Entry], *, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each slow query; the same for the same entries and seed."""
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
    for name, words in {
        "common words": common,
        "rare words": random.sample(rare, min(len(rare), 600)),
        "words of two letters": pairs * 3,
        "letters": [f"{letter}." for letter in ascii_lowercase] * 60,
        "Chinese characters": [chr(0x4E00 + random.randrange(8_000)) for _ in range(2_048)],
        "characters that stand for eighteen": ["\ufdfa" * 100] * 41,
    }.items():
        yield f"{LONGEST:,} characters: {name}", " ".join(words)[:LONGEST]
