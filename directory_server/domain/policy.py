"""Policy: rules of the operator that hide entries, in the words of searches."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set

from attrs import frozen

MAX_RULES, MAX_RULE = 50, 256
"""Rules of a policy, and characters of one."""


@frozen
class PolicyRules:
    """Queries with filters and words. Entries that match one of `hide`, or not all of `require`, are hidden.

    Without rules, no entry is hidden.
    """

    require: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.require or self.hide)

    @property
    def queries(self) -> Collection[str]:
        return {*self.require, *self.hide}

    @property
    def names(self) -> Sequence[str]:
        """The names of all rules, in the order in which they apply."""
        return [*(f"hide {query}" for query in self.hide), *(f"require {query}" for query in self.require)]

    def rule_of(self, matched: Set[str]) -> str:
        """Return the name of the first rule that hides an entry that matches the queries `matched`; empty if none."""
        hiding = [*(query in matched for query in self.hide), *(query not in matched for query in self.require)]
        return next((name for name, is_hiding in zip(self.names, hiding, strict=True) if is_hiding), "")
