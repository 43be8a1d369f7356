"""Rules: which of two entries resembles the other, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen

from ...domain.entries import Entry
from ...domain.namespaces import bears_product
from ...domain.versions import epoch
from .names import CLAIMS, COMPANY_WORDS, Name, is_inner_edit, is_one_edit, name_of

POPULAR = 500
"""Stars from which a product counts as popular."""

MUCH_LESS = 10
"""How many times fewer stars an entry has than the popular one that it resembles."""

MIN_OWNER, MIN_PRODUCT, MIN_WORD = 7, 8, 6
"""Letters of the shortest owner, product and word whose misspelling is no other word."""

DUPLICATE_NAME = "duplicate_name"
"""The reason why an entry is no look-alike, but repeats one of the same owner."""

MAX_ITEMS = 10
"""Packages, and remotes, of an entry that are compared."""

MAX_TEXT = 500
"""Characters of an identifier or URL that is compared."""


@frozen
class Subject:
    """An entry, as far as it is compared. `published` is in seconds since the epoch, infinite if it is unknown."""

    name: str
    is_proven: bool = False
    is_vendor: bool = False
    published: float = inf
    stars: int = 0
    packages: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()

    @property
    def seniority(self) -> tuple[Any, ...]:
        """The order of entries with the same name: the original comes first."""
        return (not self.is_vendor, not self.is_proven, self.published, -self.stars, self.name)

    @property
    def is_popular(self) -> bool:
        return self.stars >= POPULAR


def subject_of(entry: Entry) -> Subject:
    """Return what is compared of `entry`."""
    published = epoch(entry.official.get("publishedAt"))
    return Subject(
        name=entry.name,
        is_proven=entry.is_proven,
        is_vendor=entry.is_official and bears_product(entry.name),
        published=inf if published is None else published,
        stars=entry.stars or 0,
        packages=tuple(dict.fromkeys(_packages(entry.packages[:MAX_ITEMS]))),
        remotes=tuple(dict.fromkeys(_remotes(entry.remotes[:MAX_ITEMS]))),
    )


def _packages(packages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for package in packages:
        kind, identifier = package.get("registryType"), package.get("identifier")
        if isinstance(kind, str) and isinstance(identifier, str) and 0 < len(identifier) <= MAX_TEXT:
            # Other registries than the usual ones have other packages of the same name.
            base = package.get("registryBaseUrl")
            yield f"{kind[:20]} {identifier.lower()} {base if isinstance(base, str) else ''}"[: 2 * MAX_TEXT]


def _remotes(remotes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for remote in remotes:
        url = remote.get("url")
        if not isinstance(url, str) or len(url) > MAX_TEXT:
            continue
        try:
            parts = urlsplit(url)
        except ValueError:
            continue
        # A host that its user fills in is another one for each user.
        if parts.hostname and "{" not in parts.netloc:
            yield f"{parts.netloc.lower()}{parts.path.rstrip('/')}?{parts.query}"


def resemblance(newcomer: Subject, original: Subject) -> str:
    """Return why the name of `newcomer` resembles that of `original`, empty if it does not. Both have other names."""
    new, old = name_of(newcomer.name), name_of(original.name)
    is_same = new.folded == old.folded
    if is_same and not (new.text + old.text).isascii():
        return "confusable"
    if new.owner_id == old.owner_id:
        # The owner has published one of the names at most. Lists of other sources spell names in their own way.
        is_other_source = not newcomer.is_proven and (original.is_proven or newcomer.published == inf)
        return DUPLICATE_NAME if is_other_source and new.bare == old.bare else ""
    if is_same:
        return "same_name"
    if new.product == old.product and is_typo_of_owner(new, old):
        return "misspelt_owner"
    if newcomer.is_vendor or not (original.is_popular or original.is_vendor):
        return ""
    if makes_claim(new, old):
        return "claims_publisher"
    if original.is_popular and newcomer.stars * MUCH_LESS < original.stars and is_typo_of_product(new, old):
        return "misspelt_product"
    return ""


def is_typo_of_owner(one: Name, other: Name) -> bool:
    """Return whether the owners of two names differ by a letter."""
    return min(len(one.owner), len(other.owner)) >= MIN_OWNER and is_one_edit(one.owner, other.owner)


def is_typo_of_product(new: Name, old: Name) -> bool:
    """Return whether the product of `new` is that of `old` with a misspelt word, and not the name of its owner."""
    if min(len(new.product), len(old.product)) < MIN_PRODUCT or len(new.product_words) != len(old.product_words):
        return False
    changed = [pair for pair in zip(new.product_words, old.product_words, strict=True) if pair[0] != pair[1]]
    if len(changed) != 1 or min(map(len, changed[0])) < MIN_WORD or not is_inner_edit(*changed[0]):
        return False
    word = changed[0][0]
    return word not in new.owner and not is_one_edit(word, new.owner)


def makes_claim(new: Name, old: Name) -> bool:
    """Return whether `new` is `old` with a word that claims a publisher."""
    return new.claimed == old.claimed and _claims(new) > _claims(old)


def is_like(new: Name, old: Name) -> bool:
    """Return whether one of the rules may apply to two names."""
    return (
        new.folded == old.folded
        or (new.product == old.product and is_typo_of_owner(new, old))
        or makes_claim(new, old)
        or is_typo_of_product(new, old)
    )


def _claims(name: Name) -> int:
    return sum(word in CLAIMS | COMPANY_WORDS for word in name.owner_words) + sum(
        word in CLAIMS for word in name.product_words
    )
