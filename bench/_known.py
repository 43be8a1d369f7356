"""Known items: an entry is drawn, its name typed in a few ways, and the hits looked through for it.

No judge is needed, so there can be many, and they show what a few dozen judged queries cannot.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from string import ascii_lowercase, digits

from attrs import frozen

from directory_server.domain.entries import Entry

FORMS: Mapping[str, int] = {"full_name": 1, "owner_and_part": 1, "part": 1, "one_edit": 10, "cut": 10}
"""The ways to type a name, and among how many first hits the entry is to be."""

CUT = 3
"""Characters that are missing at the end of a cut name."""


@frozen
class KnownItem:
    """What was typed in which of FORMS, and the name of the entry that was meant."""

    form: str
    q: str
    name: str

    def found(self, hits: Sequence[str]) -> bool:
        return self.name in hits[: FORMS[self.form]]


def known_items(entries: Sequence[Entry], count: int, *, seed: int = 0) -> Iterator[KnownItem]:
    """Yield each form of `count` names, drawn by `seed` from those whose last part no other has, whatever its case."""
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
    """Return `part` with one edit in its longest word: a character left out, added, replaced, or swapped with the next.

    The edit always changes the word (Damerau 1964: these four are four in five of all typing errors).
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
