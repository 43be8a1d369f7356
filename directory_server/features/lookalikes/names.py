"""Names of entries, folded so that names which a reader takes for the same are equal."""

from __future__ import annotations

import re
from functools import cache, cached_property, lru_cache
from typing import Any

from attrs import frozen

from ...domain.namespaces import CODE_HOSTS, GENERIC

_FOLD = str.maketrans({"0": "o", "1": "l", "i": "l", "-": None, "_": None, ".": None})
"""Characters that look the same, and separators (https://docs.pypi.org/project-management/#project-name-retention)."""

_SEPARATORS = str.maketrans("", "", "-_.")

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")

CLAIMS = frozenset({"official", "original", "verified", "genuine", "real", "secure", "security", "support", "team"})
"""Words that claim to come from the publisher of a product."""

COMPANY_WORDS = frozenset({"hq", "inc", "corp"})
"""Words that such a claim adds to the name of an account."""

MAX_NAME = 200
"""Characters of a name that are compared."""


@cache
def _confusables() -> Any:
    # The tables of Unicode take 18 MB and .2 seconds, and nearly all names are ASCII.
    from confusable_homoglyphs.confusables import confusables_data

    return confusables_data


def skeleton(text: str) -> str:
    """Return `text` with the Latin letters that its other letters are confused with (Unicode TR 39, section 4)."""
    if text.isascii():
        return text
    table = _confusables()
    return "".join(letter if letter.isascii() else _latin(table.get(letter, ()), letter) for letter in text)


def _latin(likenesses: Any, letter: str) -> str:
    return next((str(likeness["c"]) for likeness in likenesses if likeness["c"].isascii()), letter)


def fold(text: str) -> str:
    """Return `text` in the form in which names that look the same are equal."""
    return skeleton(text).lower().translate(_FOLD)


@frozen(slots=False)
class Name:
    """A registered name, and its parts that are compared."""

    text: str

    @cached_property
    def folded(self) -> str:
        """The whole name, folded."""
        return fold(self.text[:MAX_NAME])

    @cached_property
    def _halves(self) -> tuple[str, str]:
        namespace, _, short = skeleton(self.text[:MAX_NAME]).rpartition("/")
        return namespace, short

    @cached_property
    def bare(self) -> str:
        """The whole name without letter case and separators."""
        return self.text[:MAX_NAME].lower().translate(_SEPARATORS)

    @cached_property
    def owner_id(self) -> str:
        """The account at a code host, or the first two labels of a domain: no two publishers have the same one."""
        namespace = self.text[:MAX_NAME].rpartition("/")[0]
        # Some other letters have an ASCII letter as their lower case.
        namespace = namespace.lower() if namespace.isascii() else namespace
        return namespace if namespace.startswith(CODE_HOSTS) else ".".join(namespace.split(".")[:2])

    @cached_property
    def owner_words(self) -> list[str]:
        """The words of the account, or of the domain without its top level."""
        namespace = self._halves[0]
        for host in CODE_HOSTS:
            namespace = namespace.removeprefix(host)
        return _words(namespace if namespace != self._halves[0] else namespace.partition(".")[2] or namespace)

    @cached_property
    def product_words(self) -> list[str]:
        """The words of the name without the owner, those that all servers have left out."""
        return [word for word in _words(self._halves[1]) if word not in GENERIC]

    @cached_property
    def owner(self) -> str:
        return "".join(self.owner_words)

    @cached_property
    def product(self) -> str:
        return "".join(self.product_words)

    @cached_property
    def claimed(self) -> str:
        """The name without words that claim a publisher, as a key."""
        owner = [word for word in self.owner_words if word not in CLAIMS | COMPANY_WORDS]
        return f"{''.join(owner)}/{''.join(word for word in self.product_words if word not in CLAIMS)}"


# Names that are compared are compared with several others. The cache takes at most about 8 MB.
name_of = lru_cache(maxsize=4_096)(Name)
"""Returns the name of a text."""


def _words(text: str) -> list[str]:
    return [word.lower() for word in _PARTS.findall(text)]


def is_one_edit(one: str, other: str) -> bool:
    """Return whether one letter was changed, added, left out, or exchanged with its neighbour."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    return (
        left[1:] == right[1:]
        or left[1:] == right
        or left == right[1:]
        or (left[:2] == right[1::-1] and left[2:] == right[2:])
    )


def edit_keys(text: str) -> list[str]:
    """Return keys under which `text` is found by the `edit_lookups` of any text that is one edit away."""
    half = (len(text) - 1) // 2
    return [f"<{len(text)} {text[:half]}", f">{len(text)} {text[len(text) - half :]}"]


def edit_lookups(text: str) -> list[str]:
    """Return the keys of the texts that may be one edit away: an edit leaves the first or the second half as it is."""
    found = []
    for length in (len(text) - 1, len(text), len(text) + 1):
        half = (length - 1) // 2
        found += [f"<{length} {text[:half]}", f">{length} {text[len(text) - half :]}"]
    return found


def is_inner_edit(one: str, other: str) -> bool:
    """Return whether the words differ by one letter that is neither the first nor the last: no plural, no prefix."""
    return is_one_edit(one, other) and one[:1] == other[:1] and one[-1:] == other[-1:]
