"""The Store and the Curation in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from attrs import evolve, frozen

from ..domain.changes import Change, Outcome
from ..domain.entries import Entry, check_name, is_storable, mcp_id_of
from ..domain.ports.search import Analysis
from ..domain.ports.storage import READ_BYTES
from ..domain.publishing import (
    SourceLimits,
    Usage,
    excess_records,
    excess_versions,
    has_room,
    is_same,
    outdated,
    record,
    rejection,
)
from ..domain.versions import LOCAL, PUBLISHED, Version
from ..domain.visibility import CuratedName, Mark
from ..serialization import encode_entry, fingerprint, restore_entry
from ._catalogue import Catalogue, LoggedChange, StoredRecord

T = TypeVar("T")


@frozen
class MemoryStore:
    """Entries and their change log; `sources` is the order of precedence, and `limits` bound what a source stores."""

    _data: Catalogue
    _analysis: Analysis
    _sources: Sequence[str] = ()
    _limits: Mapping[str, SourceLimits] = {}

    async def publish(self, source: str, entries: Sequence[Entry], *, new: bool = False) -> Sequence[Outcome]:
        publish = self._add_new if new else self._publish_name
        names: dict[str, list[int]] = {}
        for number, entry in enumerate(entries):
            names.setdefault(entry.name, []).append(number)
        outcomes: dict[int, Outcome] = {}
        for name, numbers in names.items():
            done = publish(name, source, [entries[number] for number in numbers])
            outcomes |= zip(numbers, done, strict=True)
        return [outcomes[number] for number in range(len(entries))]

    async def entry(self, mcp_id: str) -> Entry | None:
        return next(iter(await self.entries([mcp_id])), None)

    async def entries(self, mcp_ids: Sequence[str]) -> Sequence[Entry]:
        return [restore_entry(each.body) for each in self._visible(mcp_ids)]

    async def ids(self, after: str, before: str, limit: int) -> Sequence[str]:
        return sorted(each for each in self._data.visible_names() if after < each < before)[:limit]

    async def head(self) -> int:
        return len(self._data.log)

    async def log_id(self) -> str:
        return self._data.log_id

    async def current(self, after: str, limit: int, most: int = READ_BYTES) -> Sequence[Change]:
        visible = self._data.visible_names()
        ids = sorted(each for each in visible if each > after)[:limit]
        return self._read((self._data.log[self._data.names[visible[each]].seq - 1] for each in ids), most)

    async def changes(self, after: int, limit: int, most: int = READ_BYTES) -> Sequence[Change]:
        return self._read(self._data.log[after : after + limit], most)

    async def oldest(self) -> int:
        return 1 if self._data.log else 0

    async def newest(self, limit: int, of: Callable[[Entry], T]) -> Sequence[T]:
        by_date = sorted(
            self._visible(self._data.visible_names()),
            key=lambda each: (min(each.record.published_at or 0.0, each.created_at), each.record.id),
            reverse=True,
        )
        return [of(restore_entry(each.body)) for each in by_date[:limit]]

    async def count(self) -> int:
        return len(self._data.visible_names())

    async def listing(
        self,
        after: tuple[str, str],
        limit: int,
        *,
        versions: str = "latest",
        updated_since: float | None = None,
        include_deleted: bool = False,
        curated: bool = False,
        most: int = READ_BYTES,
    ) -> Sequence[Version]:
        if not all(map(is_storable, after)):
            return []
        listed = (
            each
            for name in sorted(self._data.names)
            for each in self._listed(name, versions)
            if ((each.name, each.version) > after if versions == "all" else each.name > after[0])
            and each.updated_at >= (updated_since or 0.0)
            and (include_deleted or not each.deleted)
            and (each.curated or not curated)
        )
        return _first(listed, limit, most)

    async def versions(self, name: str, after: str = "", limit: int = 1_000, most: int = READ_BYTES) -> list[Version]:
        preferred = self._data.preferred(name)
        stored = [] if preferred is None else self._of_source(name, preferred)
        by_age = sorted(stored, key=lambda each: (each.published_at, each.record.id), reverse=True)
        versions = [self._version(each) for each in by_age]
        begin = 0
        if after:
            begin = next((number for number, each in enumerate(versions, 1) if each.version == after), len(versions))
        return _first(versions[begin:], limit, most)

    async def latest(
        self, mcp_ids: Sequence[str], most: int = READ_BYTES, *, version: str = "latest"
    ) -> Sequence[Version]:
        found = (each for stored in self._visible(mcp_ids) for each in self._listed(stored.name, version))
        return _first(found, len(mcp_ids), most)

    async def version(self, name: str, version: str) -> Version | None:
        return next(iter(self._listed(name, version)), None)

    async def published(self, name: str) -> Sequence[Entry]:
        own = [each for each in self._data.of_name(name) if each.record.source == PUBLISHED]
        return [restore_entry(each.body) for each in sorted(own, key=lambda each: each.record.id)]

    async def preferred(self, name: str) -> tuple[str, str] | None:
        number = self._data.names[name].visibility.preferred_id if name in self._data.names else None
        records = (each.record for each in self._data.of_name(name))
        return next(((record.source, record.version) for record in records if record.id == number), None)

    def _publish_name(self, name: str, source: str, entries: Sequence[Entry]) -> list[Outcome]:
        with self._data.updating(name, self._sources):
            records = self._data.records.setdefault(name, {})
            stored = [each.record for each in records.values() if each.record.source == source]
            excess = excess_versions(stored, [record(0, source, each, fingerprint(each)) for each in entries])
            done = [self._write(source, each) if each.version not in excess else "too_old" for each in entries]
            for each in excess_records(each.record for each in records.values() if each.record.source == source):
                del records[source, each.version]
        return done

    def _add_new(self, name: str, source: str, entries: Sequence[Entry]) -> list[Outcome]:
        with self._data.updating(name, self._sources):
            self._data.records.setdefault(name, {})
            return [self._rejection(source, each) or self._write(source, each) for each in entries]

    def _rejection(self, source: str, entry: Entry) -> Outcome | None:
        stored = [each.record for each in self._data.of_name(entry.name) if each.record.source == source]
        return rejection(stored, record(0, source, entry, fingerprint(entry)))

    def _write(self, source: str, entry: Entry) -> Outcome:
        records, now = self._data.records[entry.name], self._data.now()
        before = records.get((source, entry.version))
        written = record(self._data.new_number(), source, entry, fingerprint(entry))
        if is_same(before.record if before else None, written):
            return "unchanged"
        body = encode_entry(entry)
        replaced = len(before.body) if before else None
        if not has_room(
            self._limits.get(source),
            self._usage(source),
            written,
            len(body),
            replaced=replaced,
            has_name=lambda: any(each.record.source == source for each in records.values()),
        ):
            return "over_limit"
        if written.latest:
            for each in records.values():
                if each.record.source == source:
                    each.record = outdated(each.record)
        created_at = before.created_at if before else now
        records[source, entry.version] = StoredRecord(entry.name, written, body, created_at, now)
        return "changed" if before else "added"

    def _usage(self, source: str) -> Usage:
        stored = list(self._data.of_source(source))
        return Usage(len({each.name for each in stored}), sum(len(each.body) for each in stored))

    def _visible(self, mcp_ids: Iterable[str]) -> list[StoredRecord]:
        names = self._data.visible_names()
        found = (self._data.visible(names[mcp_id]) for mcp_id in mcp_ids if mcp_id in names)
        return [each for each in found if each is not None]

    def _read(self, logged: Iterable[LoggedChange], most: int) -> list[Change]:
        found: list[Change] = []
        for each in logged:
            stored = self._data.visible(each.name)
            body, analysed = (stored.body, self._analysed(stored)) if stored else (None, None)
            pinned = self._data.names[each.name].flags.pinned
            verified = self._data.verified.get(each.name)
            found.append(Change(each.seq, each.kind, mcp_id_of(each.name), body, analysed, pinned, verified))
            most -= len(body or b"") + len(analysed or b"") + len(verified or b"")
            if most <= 0:
                break
        return found

    def _analysed(self, stored: StoredRecord) -> bytes:
        if stored.analysed is None or stored.analysis != self._analysis.version:
            stored.analysed = self._analysis(restore_entry(stored.body))
            stored.analysis = self._analysis.version
        return stored.analysed

    def _listed(self, name: str, versions: str) -> Iterator[Version]:
        """Yield the latest, all or one of the versions of `name`, as Store.listing describes `versions`."""
        preferred = self._data.preferred(name)
        if preferred is None:
            return
        if versions == "latest":
            yield self._version(preferred)
            return
        for each in sorted(self._of_source(name, preferred), key=lambda each: each.record.version):
            if versions in ("all", each.record.version):
                yield self._version(each)

    def _of_source(self, name: str, preferred: StoredRecord) -> list[StoredRecord]:
        return [each for each in self._data.of_name(name) if each.record.source == preferred.record.source]

    def _version(self, stored: StoredRecord) -> Version:
        name = self._data.names[stored.name]
        latest = stored.record.id == name.visibility.preferred_id
        return Version(
            name=stored.name,
            version=stored.record.version,
            body=stored.body,
            published_at=stored.published_at,
            updated_at=name.updated_at if latest else stored.updated_at,
            latest=latest,
            deleted=stored.record.deleted,
            curated=name.visibility.curated,
        )


@frozen
class MemoryCuration:
    """Curation flags. `sources` is the order of precedence, as in the store."""

    _data: Catalogue
    _sources: Sequence[str] = ()

    async def mark(self, name: str, mark: Mark, on: bool) -> bool:
        check_name(name)
        with self._data.updating(name, self._sources) as stored:
            before = stored.flags
            stored.flags = evolve(before, **{mark: on})
            return stored.flags != before

    async def disown(self, name: str) -> bool:
        check_name(name)
        with self._data.updating(name, self._sources):
            records = self._data.records.get(name, {})
            own = [key for key in records if key[0] == LOCAL]
            for key in own:
                del records[key]
            return bool(own)

    async def curated(self, after: str = "", limit: int | None = None, text: str = "") -> Sequence[CuratedName]:
        # The method `lower` of bytes changes ASCII letters only.
        part = text.encode("utf-8", "surrogatepass").lower()
        names = [name for name in sorted(self._data.names) if name > after and part in name.encode().lower()]
        stored = [(name, self._data.names[name]) for name in names]
        found = [name for name, each in stored if each.visibility.curated or each.flags.hidden]
        return [await self.find(name) for name in found[:limit]]

    async def find(self, name: str) -> CuratedName:
        if name not in self._data.names:
            return CuratedName(name)
        flags = self._data.names[name].flags
        return CuratedName(
            name, self._has(name, LOCAL), self._has(name, PUBLISHED), flags.hidden, flags.pinned, flags.allowed
        )

    def _has(self, name: str, source: str) -> bool:
        return any(each.record.source == source for each in self._data.of_name(name))


def _first(versions: Iterable[Version], limit: int, most: int) -> list[Version]:
    """Return the first `limit` versions, up to the one that brings the bytes of their bodies to `most`."""
    found: list[Version] = []
    for each in versions:
        if len(found) == limit or most <= 0:
            break
        found.append(each)
        most -= len(each.body)
    return found
