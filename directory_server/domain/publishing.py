"""Publishing: which versions of a name are stored, and the limits of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import evolve, frozen

from ..texts.wording import counted
from .changes import Outcome
from .entries import Entry
from .versions import Record, age, epoch

MAX_VERSIONS = 200
"""The most stored versions of a name and source."""


@frozen
class SubjectPublisher:
    """The subject of an access token that may publish.

    `id` is that of its key, `namespaces` are patterns of the names that it may publish. The token is valid until
    `expires_at`, in seconds since the epoch.
    """

    id: str
    label: str
    namespaces: tuple[str, ...]
    expires_at: float


@frozen
class SourceLimits:
    """The limits of a source: names, including those of deleted entries, and bytes of all documents."""

    entries: int
    bytes: int


@frozen
class Usage:
    """Stored amounts of a source: names, including those of deleted entries, and bytes of all documents."""

    names: int = 0
    bytes: int = 0


def record(number: int, source: str, entry: Entry, fingerprint: bytes) -> Record:
    """Return the record with the id `number` that an entry of `source` with this fingerprint is stored as."""
    official = entry.official
    return Record(
        id=number,
        source=source,
        version=entry.version,
        latest=official.get("isLatest") is True,
        deleted=official.get("status") == "deleted",
        published_at=epoch(official.get("publishedAt")),
        fingerprint=fingerprint,
        deprecated=official.get("status") == "deprecated",
    )


def is_same(stored: Record | None, written: Record) -> bool:
    """Return whether writing a record over the `stored` one of its name, source and version would change nothing."""
    # A version may become the latest again.
    return stored is not None and (stored.fingerprint, stored.latest) == (written.fingerprint, written.latest)


def rejection(stored: Iterable[Record], written: Record) -> Outcome | None:
    """Return the outcome of a version that must be new if it cannot be added to `stored`, None if it can.

    All records are of one name and source. A stored version is neither replaced nor dropped.
    """
    versions = {each.version for each in stored}
    if written.version in versions:
        return "exists"
    return "over_limit" if len(versions) >= MAX_VERSIONS else None


def has_room(
    limits: SourceLimits | None,
    usage: Usage,
    written: Record,
    size: int,
    *,
    replaced: int | None,
    has_name: Callable[[], bool],
) -> bool:
    """Return whether a record with a document of `size` bytes may be stored within `limits`, None for no limits.

    `replaced` is the bytes of the stored document of its name, source and version, None if there is none. `has_name`
    returns whether the source has any version of the name. A deletion is always within the limits.
    """
    if limits is None or (replaced is not None and written.deleted):
        return True
    growth = size - (replaced or 0)
    if growth > 0 and usage.bytes + growth > limits.bytes:
        return False
    return replaced is not None or usage.names < limits.entries or has_name()


def excess_versions(stored: Iterable[Record], written: Sequence[Record]) -> set[str]:
    """Return the versions among `stored` and `written` that exceed MAX_VERSIONS once all are stored.

    All records are of one name and source. `written` is in the order of writing.
    """
    versions = {each.version: each for each in stored}
    if len(versions.keys() | {each.version for each in written}) <= MAX_VERSIONS:
        return set()
    latest = next((each.version for each in reversed(written) if each.latest), None)
    if latest is not None:
        versions = {version: outdated(each) for version, each in versions.items()}
    versions |= {each.version: evolve(each, latest=each.version == latest) for each in written}
    return {each.version for each in excess_records(versions.values())}


def excess_records(records: Iterable[Record]) -> Sequence[Record]:
    """Return those of `records`, all of one name and source, that exceed MAX_VERSIONS: the last in precedence."""
    records = list(records)
    if len(records) <= MAX_VERSIONS:
        return ()
    return sorted(records, key=lambda record: (record.latest, age(record)), reverse=True)[MAX_VERSIONS:]


def too_old_versions(source: str, entries: Sequence[Entry], outcomes: Sequence[Outcome]) -> str | None:
    """Return a line for the log about the `entries` that were not stored as too old; None if there are none."""
    count = outcomes.count("too_old")
    if not count:
        return None
    first = entries[outcomes.index("too_old")]
    return (
        f"Source {source}: {counted(count, 'version')} not stored, {first.name} {first.version[:100]} first; "
        f"the limit is {MAX_VERSIONS} of a name"
    )


def outdated(record: Record) -> Record:
    """Return `record` as it is when another version of its name and source becomes the latest.

    A mirrored source may not update the previous latest version itself.
    """
    return evolve(record, latest=False)
