"""Rows of the start page: popular, hosted and new entries, one of each publisher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from math import log10
from typing import TypeVar

from attrs import define, field
from markupsafe import Markup

from ...domain.entries import Entry, is_trial
from ...domain.namespaces import VERIFIED
from ...domain.search import Query
from ...domain.views import Hit
from ...services.directory import Directory
from ._cards import owner
from ._translations import Translations

T = TypeVar("T")

PER_ROW, LEAST = 6, 3
"""Entries of a row at most, and at least. A smaller row looks broken; the newest entries alone are shown anyway."""

CANDIDATES = 300
"""Hits from which those of a row are taken. Many are equal in the ranking, which sorts those by name."""

NEWEST = 24
"""Newest entries from which those of a row are taken. They are read from the database."""

POPULAR, VENDORS, HOSTED = "installable:true", "vendor:true installable:true", "runs:remote auth:none"
"""The searches of rows. Without stars, nothing says which entries of the first are popular."""

MOST_USED, USED = 50, 3
"""Entries of most users that are looked at for popular ones, and the weight of users beside stars, both in decades."""

MAX_STARS = 100_000
"""Stars above this number, which publishers claim, do not count."""

MINUTE = 60
"""Seconds."""

Listed = tuple[Entry, Hit]
"""An entry, and what its list record says."""

Row = tuple[str, str, str, Sequence[Listed]]
"""The key of a row's text, the search words and the order of its whole list, and its entries."""


@define
class HomeRows:
    """Makes the rows and their HTML, and keeps both until the catalogue or the numbers of users change.

    `users` has the accounts that use entries, by their ids. `_generation` is that of the index.
    """

    _directory: Directory
    _generation: Callable[[], int]
    _made: tuple[int, Sequence[Row]] = field(default=(-1, ()), init=False)
    users: Mapping[str, int] = field(factory=dict, init=False)
    _html: dict[tuple[str, int], Markup] = field(factory=dict, init=False)

    async def rows(self) -> Sequence[Row]:
        """Return the rows that have entries."""
        generation, users = self._generation(), self._directory.users()
        if self._made[0] != generation or self.users is not users:
            self.users = users
            popular: Row = "popular", "", "stars", await self._found(POPULAR)
            if not any(hit.stars or hit.mcp_id in users for _, hit in popular[-1]):
                popular = "vendors", VENDORS, "relevance", await self._found(VENDORS)
            rows: list[Row] = [popular, ("hosted", HOSTED, "relevance", await self._found(HOSTED))]
            rows = [row for row in rows if len(row[-1]) >= LEAST]
            shown = {entry.mcp_id for row in rows for entry, _ in row[-1]}
            newest = await self._newest(shown)
            if len(newest) >= LEAST or (newest and not rows):
                rows.append(("new", "", "updated", newest))
            self._made = generation, rows
            self._html.clear()
        return self._made[1]

    def html(self, now: float, texts: Translations, render: Callable[[Translations], Markup]) -> Markup:
        """Return what `render` makes of the rows, once for each language and minute: cards have the age of checks."""
        key = texts.language, int(now) // MINUTE
        if key not in self._html:
            self._html = {known: html for known, html in self._html.items() if known[1] == key[1]}
            self._html[key] = render(texts)
        return self._html[key]

    async def _found(self, keywords: str) -> Sequence[Listed]:
        page = await self._directory.search(Query(keywords, CANDIDATES, browse=True))
        most_used = (
            sorted(self.users, key=lambda mcp_id: -self.users[mcp_id])[:MOST_USED] if keywords == POPULAR else ()
        )
        visible = [entry.mcp_id for entry in await self._directory.store.entries(most_used)]
        used = [hit for hit in self._directory.hits(visible).values() if hit.installable]
        hits = {hit.mcp_id: hit for hit in (*page.hits, *used) if not _is_unfit(hit)}
        shown = sorted(hits.values(), key=self._standing, reverse=True)
        hits = {hit.mcp_id: hit for hit in _of_each_publisher(shown, lambda hit: hit.server_name)}
        return [(entry, hits[entry.mcp_id]) for entry in await self._directory.store.entries(list(hits))]

    def _standing(self, hit: Hit) -> tuple[float, str]:
        """Return what speaks for an entry: its users here, then stars, vendor, checks and publisher as in the prior."""
        marks = 2 * hit.vendor + (hit.verified == "works") + (hit.publisher == VERIFIED) / 3 + bool(hit.tool_hints) / 3
        used = USED * log10(1 + self.users.get(hit.mcp_id, 0))
        return used + log10(1 + min(hit.stars or 0, MAX_STARS)) + marks, hit.updated

    async def _newest(self, shown: Set[str]) -> Sequence[Listed]:
        """Return the newest entries, without those that other rows have `shown`."""
        entries = await self._directory.store.newest(NEWEST, lambda entry: entry)
        hits = self._directory.hits([entry.mcp_id for entry in entries])
        listed = [
            entry for entry in entries if entry.mcp_id in hits.keys() - shown and not _is_unfit(hits[entry.mcp_id])
        ]
        return [(entry, hits[entry.mcp_id]) for entry in _of_each_publisher(listed, lambda entry: entry.name)]


def _is_unfit(hit: Hit) -> bool:
    """Return whether an entry is for trying something, or has a flag, or nobody maintains it."""
    return bool(hit.flags or hit.retired or is_trial(hit.name, hit.server_name))


def _of_each_publisher(items: Iterable[T], name: Callable[[T], str]) -> Sequence[T]:
    """Return the first item of each publisher, at most PER_ROW."""
    first: dict[str, T] = {}
    for item in items:
        first.setdefault(owner(name(item)), item)
        if len(first) == PER_ROW:
            break
    return list(first.values())
