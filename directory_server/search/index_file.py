"""The file of an index: one process of a machine writes it, and all processes map it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .impact_index import ImpactIndex
from .index.columns import Unusable, map_columns, size_of, write_columns
from .index.memory import forget_pages
from .index.packing import file_version
from .index.saved import from_columns, to_columns
from .index.snapshot import Snapshot

NAME = "index-{version}.bin"

FREE = 2
"""The file is written if so many times its size is free, so that it does not fill the disk of a database."""

OBSOLETE = 86_400.0
"""Seconds after which the file of another version of the software is deleted; its processes may run until then."""


class MappedIndexFile:
    """Implement the IndexFile port: the file of `index` in `folder`.

    Its name has a digest of its version, so that processes of two versions do not replace each other's file.
    """

    def __init__(self, index: ImpactIndex, folder: Path) -> None:
        self._index = index
        self._folder = folder.absolute()
        self.path = self._folder / NAME.format(version=file_version())
        self.copy = index
        self._seen: tuple[int, ...] = ()
        """The identity of the file that was read last."""
        self._read: Snapshot | None = None
        """Its content."""
        self._written: tuple[tuple[int, ...], Snapshot | None] = (), None
        """The identity of the file that was written last, and its content."""

    def is_other(self) -> bool:
        try:
            return _identity(os.stat(self.path)) != self._seen
        except FileNotFoundError:
            return False

    def is_outdated(self) -> bool:
        return self._read is None or not _shares_base(self._index.snapshot, self._read)

    def read(self, log: str) -> tuple[int, str]:
        file = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            self._seen, self._read = _identity(os.fstat(file)), None
            mapped = map_columns(file)
        finally:
            os.close(file)
        facts = mapped.facts
        seq, last = facts.get("seq"), facts.get("last")
        if facts.get("version") != file_version() or not isinstance(seq, int) or not isinstance(last, str):
            raise Unusable("it is from another version of the software")
        if facts.get("log") != log:
            raise Unusable("it is from another change log, such as that before a restored backup")
        snapshot = self._read = from_columns(mapped)
        forget_pages()
        self.copy = self._index.copy(snapshot)
        return seq, last

    def adopt(self) -> None:
        identity, written = self._written
        self._index.adopt(self.copy, written if identity == self._seen else None)
        self.copy = self._index
        self._written = (), None

    def abandon(self) -> None:
        self._index.forget_copy()
        self.copy = self._index
        self._read = None

    def clear(self) -> None:
        self._read = None
        self._index.adopt(self._index.copy(Snapshot()))

    def write(self, log: str, seq: int, last: str) -> bool:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        snapshot = self._index.snapshot
        counts, columns = to_columns(snapshot)
        facts = {**counts, "version": file_version(), "log": log, "seq": seq, "last": last}
        with self._draft() as file:
            if file is None:
                return False
            free = os.fstatvfs(file)
            if free.f_bavail * free.f_frsize < FREE * size_of(columns):
                raise OSError(f"the disk has less than {FREE} times its size free")
            write_columns(file, facts, columns)
            self._written = _identity(os.fstat(file)), snapshot
            os.rename(self._draft_path, self.path)
            _sync(self._folder)
        self._delete_obsolete()
        return True

    @property
    def _draft_path(self) -> Path:
        return self.path.with_suffix(".new")

    @contextmanager
    def _draft(self) -> Iterator[int | None]:
        """Open the empty draft of the file with a lock; None if another process has it. Delete the draft at the end."""
        path = self._draft_path
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another process may have renamed the draft before the lock.
            if not os.path.samestat(os.stat(path), os.fstat(file)):
                raise FileNotFoundError
        except (BlockingIOError, FileNotFoundError):
            os.close(file)
            yield None
            return
        try:
            os.truncate(file, 0)
            yield file
        finally:
            with suppress(FileNotFoundError):
                os.unlink(path)
            os.close(file)

    def _delete_obsolete(self) -> None:
        """Delete the files of other versions of the software that were not written for long."""
        with suppress(OSError):
            written = os.stat(self.path).st_mtime
            for path in self._folder.glob(NAME.format(version="*")):
                if path != self.path and path.lstat().st_mtime < written - OBSOLETE:
                    path.unlink()


def _shares_base(one: Snapshot, other: Snapshot) -> bool:
    """Return whether the largest segment of both is the same, or both are empty."""
    largest = [snapshot.parts[0].segment if snapshot.parts else None for snapshot in (one, other)]
    return largest[0] is largest[1]


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mtime_ns


def _sync(folder: Path) -> None:
    """Make the renaming of a file in `folder` durable (fsync(2))."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
