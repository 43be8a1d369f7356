"""Check of new names that are published to this directory."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from attrs import frozen

from ...domain.entries import Entry, mcp_id_of
from ...domain.errors import BadInput
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...tables import Tables
from .names import Name, name_of
from .rules import is_like, resemblance, subject_of

PAGE = 20_000
"""Names that are read and compared at a time."""

MAX_CANDIDATES = 100
"""Entries that are read because their names are alike."""

_NAMES = """
    SELECT name FROM entry WHERE visible_id IS NOT NULL AND name > :after ORDER BY name LIMIT :limit
"""

_TEXTS = {
    "same_name": "differs from it in letter case, separators or letters that look the same only",
    "confusable": "has letters that look like those of it",
    "misspelt_owner": "differs from it in one letter of the owner",
    "misspelt_product": "differs from this popular name in one letter",
    "claims_publisher": "adds a word to it that claims its publisher",
}


@frozen
class NameCheck:
    """Rejects new names that resemble those of visible entries. A pattern of `allowed` excepts names."""

    _store: Store
    _tables: Tables
    _offload: Offload
    _allowed: Sequence[str]

    async def __call__(self, entry: Entry) -> None:
        """Raise BadInput if the name of `entry` is new and resembles another one."""
        name = entry.name
        if any(fnmatchcase(name, pattern) for pattern in self._allowed):
            return
        if await self._store.preferred(name) is not None:
            # Only the first version brings a new name.
            return
        newcomer = subject_of(entry)
        for candidate in await self._store.entries([mcp_id_of(other) for other in await self._alike(name)]):
            reason = resemblance(newcomer, subject_of(candidate))
            if reason:
                raise BadInput(
                    f"name: {name} resembles {candidate.name}: it {_TEXTS[reason]}. Choose another name, or ask the "
                    "operator of this directory to add it to lookalikes.allow.",
                    code="lookalike",
                )

    async def _alike(self, name: str) -> Sequence[str]:
        found: list[str] = []
        after = ""
        while len(found) < MAX_CANDIDATES:
            names = [other for (other,) in await self._tables.select(_NAMES, after=after, limit=PAGE)]
            found += await self._offload(_like, name, names)
            if len(names) < PAGE:
                break
            after = names[-1]
        return found[:MAX_CANDIDATES]


def _like(name: str, names: Sequence[str]) -> Sequence[str]:
    new = name_of(name)
    return [other for other in names if other != name and is_like(new, Name(other))]
