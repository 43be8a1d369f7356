"""Which versions of an upstream are stored, and which names need a look-up of their versions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from attrs import evolve

from ..domain.entries import OFFICIAL, Entry
from ..serialization import restore_entry
from ._page import ServerPage
from ._upstream import Versions

MAX_PAGES = 10
"""Maximum pages of versions that are read of a name."""

Stored = Mapping[tuple[str, str], bool]
"""The stored versions of an upstream, by name and version, with whether each is marked as the latest."""


def wanted_versions(entries: Iterable[Entry], versions: Versions, stored: Stored) -> list[Entry]:
    """Return those of `entries` that are to be stored: `versions` that are not deleted, and what is stored already.

    A deleted version that was never stored stays unknown: it is spam or malware as a rule.
    """
    return [
        entry
        for entry in entries
        if (entry.name, entry.version) in stored
        or (entry.official.get("status") != "deleted" and (versions == "all" or not _is_outdated(entry)))
    ]


def unmarked_names(entries: Sequence[Entry], wanted: Iterable[Entry], stored: Stored) -> list[str]:
    """Return the names of `entries` of which no stored version is marked as the latest, once `wanted` is stored.

    The official registry moves the mark of a withdrawn version to one whose `updatedAt` stays as it is, so no
    incremental sync sees that one. Names that have no marks at all, of registries without them, are left out.
    """
    marks = {**stored, **{(entry.name, entry.version): not _is_outdated(entry) for entry in wanted}}
    known, marked = {name for name, _ in marks}, {name for (name, _), is_latest in marks.items() if is_latest}
    outdated = dict.fromkeys(entry.name for entry in entries if _is_outdated(entry))
    return [name for name in outdated if name in known and name not in marked]


async def versions_of(name: str, read: Callable[[str], Awaitable[ServerPage]]) -> Sequence[Entry]:
    """Return the versions of `name` on its pages, which `read` returns by their cursor. Raises UpstreamFailed."""
    versions: list[Entry] = []
    cursor = ""
    for _ in range(MAX_PAGES):
        page = await read(cursor)
        versions += [entry for entry in page.entries if entry.name == name]
        cursor = page.next
        if not cursor:
            break
    return versions


def deleted_versions(bodies: Iterable[bytes]) -> list[Entry]:
    """Return the encoded entries `bodies` with the status `deleted`."""
    entries = map(restore_entry, bodies)
    return [evolve(entry, meta={**entry.meta, OFFICIAL: {**entry.official, "status": "deleted"}}) for entry in entries]


def _is_outdated(entry: Entry) -> bool:
    return entry.official.get("isLatest") is False
