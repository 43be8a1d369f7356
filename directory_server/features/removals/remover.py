"""Remover: reads the sources, and removes or restores entries as they say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import define, evolve, field, frozen
from twisted.logger import Logger

from ... import __version__
from ...config import Config
from ...domain.changes import Change
from ...domain.entries import Entry
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...domain.versions import REMOVED
from ...feature.server import SERVICES, Server
from ...serialization import restore_entry
from ...services.follower import Followed, Follower, all_entries, unleased
from ...tables import Storage, StoredCuration
from .osv import Advisory, InvalidRecord, advisories_of
from .rules import Finding, bare_server, findings_of, packages_of, removal_of, removed
from .settings import RemovalsConfig
from .sources import Download, SourceFailed, documents_of, downloader, is_url
from .tables import Advisories, Reading, key_of

INTERVAL = 60.0
"""Seconds between two looks for new changes."""

RECHECK = 600.0
"""Seconds between two checks of the removed entries, whose other versions are in no change."""

LEASE = 600.0
"""Seconds for which a process may read a source without renewing its lease."""

CHUNK = 500
"""Documents that are read at a time."""


@frozen
class Report:
    """Numbers of a reading: documents, those that are no valid record, and advisories."""

    documents: int = 0
    invalid: int = 0
    advisories: int = 0


@define
class Remover:
    """Removes entries with malicious packages. `now` is seconds since the epoch."""

    _settings: RemovalsConfig
    _store: Store
    _curation: StoredCuration
    _advisories: Advisories
    _download: Download
    _offload: Offload
    _now: Callable[[], float]
    _rechecked_at: float = field(default=0.0, init=False)
    _failed_at: float = field(default=float("-inf"), init=False)
    _error: str = field(default="", init=False)
    _hold: Callable[[], Awaitable[bool]] = field(default=unleased, init=False)

    _log = Logger()

    def follower(self, storage: Followed, clock: Any, announce: Callable[[], None]) -> Follower:
        follower = Follower(
            storage,
            clock,
            announce,
            "removals of entries",
            self._remove,
            version=self._version,
            prepare=self._prepare,
            complete=self._recheck,
            seconds=LEASE,
            interval=INTERVAL,
        )
        self._hold = follower.hold
        return follower

    async def refresh(self) -> Report:
        """Read the sources now, then remove and restore entries. Raises SourceFailed."""
        report = await self._read()
        async for page in all_entries(self._store):
            await self._remove(page)
        await self._recheck()
        return report

    async def _version(self) -> str:
        reading = await self._advisories.reading()
        return f"{__version__} {reading.read_at} {reading.signature} {self._settings.keep}"

    async def _prepare(self) -> bool:
        """Read the sources if that is due, and check the removed entries if that is due."""
        reading, now = await self._advisories.reading(), self._now()
        is_other = reading.signature != self._signature and self._failed_at == float("-inf")
        if is_other or now - max(reading.read_at, self._failed_at) >= self._settings.interval:
            await self._read_logged()
        return now - self._rechecked_at >= RECHECK and await self._recheck()

    async def _read_logged(self) -> None:
        try:
            report = await self._read()
        except SourceFailed as error:
            # What was read before stays.
            self._failed_at = self._now()
            if error.message != self._error:
                self._error = error.message
                self._log.warn("Sources of malicious packages: {reason}", reason=error.message)
        else:
            self._error = ""
            self._log.info(
                "Read {documents} documents with {advisories} malicious packages; {invalid} were invalid",
                documents=report.documents,
                advisories=report.advisories,
                invalid=report.invalid,
            )

    async def _read(self) -> Report:
        """Read all sources, and store their advisories in place of the earlier ones. Raises SourceFailed."""
        kept: set[int] = set()
        documents = invalid = 0
        with TemporaryDirectory(prefix="advisories-") as folder:
            for number, source in enumerate(self._settings.sources):
                try:
                    path = Path(source)
                    if is_url(source):
                        path = Path(folder, str(number))
                        await self._download(source, path)
                    found = documents_of(path)
                    while chunk := await self._offload(_chunk, found, self._settings.ids):
                        documents += chunk.documents
                        invalid += chunk.invalid
                        kept.update(key_of(advisory.package, advisory.id) for advisory in chunk.advisories)
                        if chunk.advisories:
                            await self._advisories.put(chunk.advisories)
                        await self._hold()
                except SourceFailed as error:
                    raise SourceFailed(f"{source}: {error.message}") from None
        await self._advisories.drop_others(kept)
        await self._advisories.put_reading(Reading(self._now(), self._signature))
        return Report(documents, invalid, len(kept))

    async def findings(self, entries: Sequence[Entry]) -> Mapping[str, Sequence[Finding]]:
        """Return the malicious packages of those of `entries` that have any and may be removed, by name."""
        keys = {key for entry in entries for key, *_ in packages_of(entry)}
        advisories = await self._advisories.find(keys)
        if not advisories:
            return {}
        free = [entry for entry in entries if not self._is_kept(entry.name)]
        # Some records list thousands of versions.
        found = await self._offload(lambda: {entry.name: findings_of(entry, advisories) for entry in free})
        return {name: findings for name, findings in found.items() if findings}

    async def _remove(self, changes: Sequence[Change]) -> bool:
        """Remove the entries with malicious packages among those of `changes`."""
        entries = {entry.name: entry for entry in await self._offload(_entries, changes)}
        malicious = await self.findings(list(entries.values()))
        for name, findings in malicious.items():
            await self._publish(entries[name], findings)
        return bool(malicious)

    async def _publish(self, entry: Entry, findings: Sequence[Finding]) -> None:
        await self._store.publish(REMOVED, [removed(entry, findings, self._now())])
        found = "; ".join(finding.text for finding in findings)
        self._log.warn("Removed {name}: {found}", name=entry.name, found=found)

    async def _recheck(self) -> bool:
        """Restore the removed entries whose packages are not malicious any more."""
        after, is_changed = "", False
        while page := await self._store.of_source(REMOVED, after):
            others = [(entry, await self._store.without(entry.name, REMOVED)) for entry in page]
            findings = await self.findings([other for _, other in others if other is not None])
            for entry, other in others:
                is_changed |= await self._recheck_one(entry, other, findings.get(entry.name, ()))
            after = page[-1].name
        self._rechecked_at = self._now()
        return is_changed

    async def _recheck_one(self, entry: Entry, other: Entry | None, findings: Sequence[Finding]) -> bool:
        """Restore a removed `entry`, or remove the `other` one that its sources have now; return whether it changed."""
        if is_older := entry.server != (server := bare_server(entry)):
            # An older version of the software kept texts of the publisher.
            await self._store.publish(REMOVED, [evolve(entry, server=server)])
        if other is None and not self._is_kept(entry.name):
            # Its source has deleted it too.
            return is_older
        if not findings:
            await self._curation.disown(entry.name, REMOVED)
            self._log.info("Restored {name}: it has no malicious package", name=entry.name)
            return True
        if other is not None and other.version != entry.version:
            await self._publish(other, findings)
            return True
        return is_older

    def _is_kept(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._settings.keep)

    @property
    def _signature(self) -> str:
        settings = self._settings
        return sha256(repr((settings.sources, settings.ids)).encode()).hexdigest()[:32]


@frozen
class _Chunk:
    """Some documents of a source: their number, that of the invalid ones, and their advisories."""

    documents: int
    invalid: int
    advisories: Sequence[Advisory]

    def __bool__(self) -> bool:
        return bool(self.documents)


def _chunk(documents: Iterator[bytes | None], ids: Sequence[str]) -> _Chunk:
    count = invalid = 0
    advisories: list[Advisory] = []
    for body in islice(documents, CHUNK):
        count += 1
        try:
            advisories += () if body is None else advisories_of(body, ids)
            invalid += body is None
        except InvalidRecord:
            invalid += 1
    return _Chunk(count, invalid, advisories)


def _entries(changes: Sequence[Change]) -> Sequence[Entry]:
    """Return the entries of `changes` that have packages and are not removed."""
    entries = (restore_entry(change.body) for change in changes if change.body is not None)
    return [entry for entry in entries if entry.packages and removal_of(entry) is None]


DOWNLOAD = "removals.download"
"""The name of the download among the parts that tests replace."""


def remover_of(
    config: Config,
    storage: Storage,
    reactor: Any,
    offload: Offload,
    now: Callable[[], float],
) -> Remover:
    return Remover(
        settings=config.of(RemovalsConfig),
        store=storage.store,
        curation=storage.curation,
        advisories=Advisories(storage.background_tables),
        download=downloader(reactor),
        offload=offload,
        now=now,
    )


def run(server: Server) -> None:
    """Add the follower that removes entries."""
    remover = remover_of(server.config, server.storage, server.reactor, server.offload, server.now)
    server.add(SERVICES, remover.follower(server.storage, server.reactor, server.bus.announce))
