"""Dry run: which entries rules would hide, and by which rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence

from attrs import field, frozen
from twisted.internet.defer import DeferredLock

from ...domain.policy import PolicyRules
from ...search import EntryPolicy
from .tables import RuledNames

BATCH = 100
"""Names that are compared in one transaction, in a thread."""

MAX_SHOWN = 50
"""Names of entries that a page shows of each rule."""


@frozen
class Outcome:
    """What rules would hide: the number of entries and the first names by rule, and the number of compared names."""

    compared: int
    counts: Mapping[str, int]
    names: Mapping[str, Sequence[str]]


async def hidden_names(ruled: RuledNames, rules: PolicyRules) -> AsyncIterator[tuple[int, Mapping[str, str]]]:
    """Yield numbers of compared names, and those that `rules` would hide with the rule that hides each."""
    policy, after = EntryPolicy(rules), ""
    while names := await ruled.names(after, BATCH):
        yield len(names), await ruled.hidden_by(policy, names)
        after = names[-1]


@frozen
class DryRun:
    """Dry runs for pages, one at a time: each of them reads all entries."""

    _ruled: RuledNames
    _lock: DeferredLock = field(factory=DeferredLock, init=False)

    async def run(self, rules: PolicyRules) -> Outcome:
        """Return what `rules` would hide. Raises Unavailable."""
        compared, counts, names = 0, Counter[str](), dict[str, list[str]]()
        await self._lock.acquire()
        try:
            async for count, hidden in hidden_names(self._ruled, rules):
                compared += count
                counts.update(hidden.values())
                for name, rule in hidden.items():
                    shown = names.setdefault(rule, [])
                    if len(shown) < MAX_SHOWN:
                        shown.append(name)
        finally:
            self._lock.release()
        return Outcome(compared, counts, names)
