"""Scopes: which entries a request may see, by the lists that they are in."""

from __future__ import annotations

from attrs import evolve

from .changes import Change
from .errors import NotFound

Scope = frozenset[str] | None
"""The names of the lists whose entries are visible; None for all entries."""

NOTHING: frozenset[str] = frozenset()
"""The scope of a request that nobody has authenticated."""

PRODUCTION = "production"
"""The alias whose version readers of a list get as the latest one, if the list has it for an entry."""

MAX_LIST_NAME = 30
"""Characters of the name of a list. Tokens of the registry API, which are in the same place of a path, have more."""


def unknown_list(name: str) -> NotFound:
    """Return the error of a list that there is not, or that the client may not see."""
    return NotFound(f"There is no list {name[:MAX_LIST_NAME]!r}.")


def change_within(change: Change, scope: Scope) -> Change | None:
    """Return `change` as readers of `scope` see it, None if they do not.

    An entry that has left the lists of the scope with this change is removed for them.
    """
    if scope is None or not scope.isdisjoint(change.lists):
        return change
    if scope.isdisjoint(change.left):
        return None
    return evolve(change, kind="removed", body=None, analysed=None, notes=())
