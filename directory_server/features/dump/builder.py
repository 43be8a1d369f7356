"""The current dump: made when a client asks for one, by one process of the machine at a time."""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ...domain.errors import Unavailable
from ...domain.ports.runtime import Offload
from ...domain.ports.storage import Store
from ...domain.versions import Version
from ...http.errors import HttpError
from ...serialization import registry_entry
from ...services.directory import Directory
from ...texts.wording import entries
from .settings import DumpConfig

_NAME = re.compile(r"(?P<log>[0-9a-f]+)-(?P<seq>\d+)-(?P<date>\d+)-(?P<sha256>[0-9a-f]{64})\.jsonl\.gz")

_DRAFT = "draft"

_LEVEL = 6
"""The level of gzip. Level 9 takes twice the time and saves 2 %."""


class TooLarge(Exception):
    """The dump exceeds its size."""


@frozen
class Dump:
    """A complete dump: its path, size in bytes, and the SHA-256 of the file in hexadecimal digits.

    All changes to `seq` of the change log `log` are in it. `date` is when it was begun, in seconds since the epoch; it
    is also in the header of gzip.
    """

    path: Path
    size: int
    sha256: str
    date: int
    log: str
    seq: int


def newest(folder: Path) -> Dump | None:
    """Return the newest dump in `folder`, None if there is none."""
    with suppress(FileNotFoundError):
        dumps = [dump for file in os.scandir(folder) if (dump := _dump(Path(file.path))) is not None]
        return max(dumps, key=lambda dump: dump.date, default=None)
    return None


def _dump(path: Path) -> Dump | None:
    match = _NAME.fullmatch(path.name)
    if match is None:
        return None
    try:
        size = path.stat().st_size
    except FileNotFoundError:  # A newer dump has replaced it.
        return None
    return Dump(path, size, match["sha256"], int(match["date"]), match["log"], int(match["seq"]))


class Draft:
    """A dump that is written. Methods block, and only one at a time may run."""

    def __init__(self, folder: Path, file: BufferedRandom, date: int, max_bytes: int) -> None:
        self._folder = folder
        self._file = file
        self._date = date
        self._max_bytes = max_bytes
        # Without a name of the file, so that equal content of the same date has equal bytes.
        self._gzip = gzip.GzipFile("", "wb", _LEVEL, file, mtime=date)
        self.versions = 0

    def add(self, versions: Sequence[Version], added: Sequence[Mapping[str, object]]) -> None:
        """Write `versions`, with what features have `added` to the `_meta` of each. Raises TooLarge and OSError."""
        lines = [registry_entry(version, more) for version, more in zip(versions, added, strict=True)]
        self._gzip.write(b"".join(line + b"\n" for line in lines))
        self.versions += len(lines)
        if self._file.tell() > self._max_bytes:
            raise TooLarge

    def finish(self, log: str, seq: int) -> Dump:
        """Make this the dump of the folder, and delete the earlier ones. Raises OSError."""
        self._gzip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.seek(0)
        sha256 = hashlib.file_digest(self._file, "sha256").hexdigest()
        path = self._folder / f"{log}-{seq}-{self._date}-{sha256}.jsonl.gz"
        earlier = [file for file in self._folder.iterdir() if _NAME.fullmatch(file.name) and file != path]
        os.rename(self._folder / _DRAFT, path)
        for old in earlier:
            # Downloads of it go on, because they have it open.
            old.unlink(missing_ok=True)
        self._file.close()
        return Dump(path, path.stat().st_size, sha256, self._date, log, seq)

    def discard(self) -> None:
        """Delete the draft, unless it is finished."""
        if not self._file.closed:
            # Another process may begin a draft once the lock ends with the file.
            (self._folder / _DRAFT).unlink(missing_ok=True)
            self._file.close()


def open_draft(folder: Path, date: int, max_bytes: int) -> Draft | None:
    """Return a new dump in `folder`; None if a process of this machine writes one. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / _DRAFT
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another process may have finished or deleted the draft before the lock.
        is_ours = os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except (BlockingIOError, FileNotFoundError):
        is_ours = False
    if not is_ours:
        file.close()
        return None
    file.truncate(0)
    return Draft(folder, file, date, max_bytes)


WAIT = 20.0
"""Seconds that a request waits for a new dump."""

RETRY = 30
"""Seconds after which a client should ask again."""

LOOK = 0.5
"""Seconds between two looks for the dump that another process makes."""

LOOKS = 7_200
"""Looks after which that process counts as stuck."""

PAGE, PAGE_BYTES = 200, 500_000
"""Versions, and about their bytes, that are encoded and compressed at a time. 500,000 bytes take 30 ms in a thread."""


@define(eq=False, repr=False)
class Dumps:
    """The dump of a folder. With `curated`, only of curated entries. `clock` runs the waiting.

    `now` returns seconds since the epoch.
    """

    _log = Logger()

    _folder: Path
    _settings: DumpConfig
    _store: Store
    _directory: Directory
    _offload: Offload
    _clock: Any
    _now: Callable[[], float]
    _curated: bool = field(kw_only=True)
    _waiting: list[Deferred[Dump]] | None = field(default=None, init=False)
    """The requests that wait for the dump that this process makes; None if it makes none."""

    async def current(self) -> Dump:
        """Return a dump of all changes, or one that is at most `max_age` old. Make it if there is none.

        Raises HttpError if that takes longer than WAIT seconds, and Unavailable.
        """
        dump = await self._usable()
        if dump is not None:
            return dump
        waiting: Deferred[Dump] = Deferred()
        if self._waiting is None:
            self._waiting = [waiting]
            Deferred.fromCoroutine(self._build_for_all())
        else:
            self._waiting.append(waiting)
        try:
            return await waiting.addTimeout(WAIT, self._clock)
        except TimeoutError:
            raise HttpError(
                503, "unavailable", "The dump is being made. Try again later.", {"Retry-After": str(RETRY)}
            ) from None

    async def _usable(self) -> Dump | None:
        dump = await self._offload(newest, self._folder)
        if dump is None or dump.log != await self._store.log_id():
            return None
        is_young = 0 <= self._now() - dump.date < self._settings.max_age
        return dump if is_young or dump.seq == await self._store.head() else None

    async def _build_for_all(self) -> None:
        """Make a dump, and pass it or the error to all requests that wait."""
        result: Dump | Exception
        try:
            result = await self._build()
        except (OSError, TooLarge, Unavailable) as error:
            reason = {OSError: str(error), TooLarge: f"it exceeds {self._settings.max_bytes:,} bytes (dump.max_bytes)"}
            self._log.error(
                "The dump was not made: {reason}",
                reason=next((text for kind, text in reason.items() if isinstance(error, kind)), str(error)),
            )
            result = Unavailable("The dump cannot be made now.")
        except Exception as error:
            self._log.failure("The dump was not made")
            result = error
        waiting, self._waiting = self._waiting or [], None
        for deferred in waiting:
            if not deferred.called:
                deferred.callback(result) if isinstance(result, Dump) else deferred.errback(result)

    async def _build(self) -> Dump:
        for _ in range(LOOKS):
            began = self._now()
            draft = await self._offload(open_draft, self._folder, int(began), self._settings.max_bytes)
            if draft is not None:
                break
            await deferLater(self._clock, LOOK)
            if (dump := await self._usable()) is not None:
                return dump
        else:
            raise Unavailable("Another process does not finish its dump.")
        try:
            # Changes during the work may be missing, so they count as later.
            log, seq = await self._store.log_id(), await self._store.head()
            await self._add_all(draft)
            dump = await self._offload(draft.finish, log, seq)
        finally:
            await self._offload(draft.discard)
        self._log.info(
            "Dump of {versions}: {size:,} bytes, {seconds:.1f} seconds",
            versions=entries(draft.versions),
            size=dump.size,
            seconds=self._now() - began,
        )
        return dump

    async def _add_all(self, draft: Draft) -> None:
        after = "", ""
        while versions := await self._store.listing(
            after,
            PAGE,
            versions="all",
            include_deleted=True,
            curated=self._curated,
            every_kind=self._settings.every_kind,
            most=PAGE_BYTES,
        ):
            added = [self._directory.registry_meta(version.name) if version.latest else {} for version in versions]
            await self._offload(draft.add, versions, added)
            after = versions[-1].name, versions[-1].version
