"""Finder: the look-alikes among all entries, found again only for the entries that a change can affect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from attrs import define, field

from .names import edit_keys, edit_lookups, name_of
from .rules import MIN_OWNER, MIN_PRODUCT, Subject, resemblance

COMMON = 6
"""Names with the same package or remote from which it is a common launcher or gateway."""

MAX_ALIKE = 200
"""Names with the same key that are compared. More of them have a common word, not a common original."""

MAX_FOUND = 5
"""Originals of an entry that are stored."""

MAX_HOMONYMS = 2
"""Owners of a product from which its name is a word, not a misspelling of another one."""

PACKAGE, REMOTE, PRODUCT, POPULAR, USUAL = "package ", "remote ", "product ", "popular ", "usual "


@define
class Finder:
    """All entries, by name and by keys that entries which resemble each other have in common.

    A key is the hash of a text, which differs in each process. An entry takes about 700 bytes.
    """

    _subjects: dict[str, Subject] = field(factory=dict)
    _names: dict[int, str | set[str]] = field(factory=dict)
    """The name with a key, or a set of several."""

    def __len__(self) -> int:
        return len(self._subjects)

    def __iter__(self) -> Iterator[str]:
        return iter(self._subjects)

    def put(self, changed: Mapping[str, Subject | None]) -> None:
        """Replace the entries `changed`, by name, None for removed ones."""
        for name, subject in changed.items():
            before = self._subjects.pop(name, None)
            if before is not None:
                for key in _keys(before):
                    self._discard(key, name)
            if subject is not None:
                for key in _keys(subject):
                    self._add(key, name)
                self._subjects[name] = subject

    def update(self, changed: Mapping[str, Subject | None]) -> set[str]:
        """Replace the entries `changed`, as `put` does; return the names whose originals may differ."""
        affected = {*changed, *self.alike(self._subjects.get(name) for name in changed)}
        self.put(changed)
        return affected.union(self.alike(self._subjects.get(name) for name in changed))

    def originals(self, name: str) -> Mapping[str, str]:
        """Return the names of the originals that the entry `name` resembles, at most MAX_FOUND, and the reasons."""
        newcomer = self._subjects.get(name)
        found: dict[str, str] = {}
        if newcomer is not None:
            reasons = ((other, self._reason(newcomer, self._subjects[other])) for other in self.alike([newcomer]))
            found = {other: reason for other, reason in reasons if reason}
        first = sorted(found, key=lambda other: self._subjects[other].seniority)[:MAX_FOUND]
        return {other: found[other] for other in first}

    def _reason(self, newcomer: Subject, original: Subject) -> str:
        reason = resemblance(newcomer, original)
        # These say themselves which of the two is popular.
        if reason == "claims_publisher" or (reason == "misspelt_product" and not self._is_word(newcomer)):
            return reason
        if original.seniority > newcomer.seniority:
            return ""
        if reason in ("", "misspelt_product"):
            return self._shared(newcomer, original)
        return reason

    def _shared(self, newcomer: Subject, original: Subject) -> str:
        """Return whether an entry of another publisher has a package or remote of `newcomer`."""
        if name_of(newcomer.name).owner_id == name_of(original.name).owner_id:
            return ""
        for reason, prefix, ours, theirs in (
            ("same_package", PACKAGE, newcomer.packages, original.packages),
            ("same_remote", REMOTE, newcomer.remotes, original.remotes),
        ):
            if any(len(self._find(hash(prefix + item))) < COMMON for item in set(ours).intersection(theirs)):
                return reason
        return ""

    def alike(self, subjects: Iterable[Subject | None], limit: int = MAX_ALIKE) -> set[str]:
        """Return the names of other entries that share a key with one of `subjects`, if at most `limit` have it."""
        found: set[str] = set()
        for subject in filter(None, subjects):
            for key in _lookups(subject):
                names = self._find(key)
                if len(names) <= limit:
                    found.update(other for other in names if other != subject.name)
        return found

    def _is_word(self, subject: Subject) -> bool:
        """Return whether several owners have a product of the same name: it is a word of its own."""
        names = self._find(hash(PRODUCT + name_of(subject.name).product))
        return len({name_of(name).owner_id for name in names}) > MAX_HOMONYMS

    def _find(self, key: int) -> Collection[str]:
        names = self._names.get(key, ())
        return (names,) if isinstance(names, str) else names

    def _add(self, key: int, name: str) -> None:
        names = self._names.setdefault(key, name)
        if isinstance(names, set):
            names.add(name)
        elif names != name:
            self._names[key] = {names, name}

    def _discard(self, key: int, name: str) -> None:
        names = self._names.get(key)
        if isinstance(names, set) and len(names) > 1:
            names.discard(name)
        elif names is not None and name in self._find(key):
            del self._names[key]


def _common(subject: Subject) -> Iterator[str]:
    """Yield the texts that a subject shares with the entries that it resembles."""
    name = name_of(subject.name)
    yield "name " + name.folded
    yield "claimed " + name.claimed
    yield from (PACKAGE + package for package in subject.packages)
    yield from (REMOTE + remote for remote in subject.remotes)


def _keys(subject: Subject) -> Iterator[int]:
    """Yield the keys under which a subject is found."""
    name = name_of(subject.name)
    yield from map(hash, _common(subject))
    if len(name.owner) >= MIN_OWNER:
        yield from (hash(f"owner {name.product}/{key}") for key in edit_keys(name.owner))
    if len(name.product) >= MIN_PRODUCT:
        yield hash(PRODUCT + name.product)
        prefix = POPULAR if subject.is_popular else USUAL
        yield from (hash(prefix + key) for key in edit_keys(name.product))


def _lookups(subject: Subject) -> Iterator[int]:
    """Yield the keys of the entries that a subject may resemble, or that may resemble it."""
    name = name_of(subject.name)
    yield from map(hash, _common(subject))
    if len(name.owner) >= MIN_OWNER - 1:
        yield from (hash(f"owner {name.product}/{key}") for key in edit_lookups(name.owner))
    if len(name.product) >= MIN_PRODUCT - 1:
        for prefix in (POPULAR, USUAL) if subject.is_popular else (POPULAR,):
            yield from (hash(prefix + key) for key in edit_lookups(name.product))
