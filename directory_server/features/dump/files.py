"""The files of dumps in a folder of one machine: JSON Lines, compressed with gzip."""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path

from attrs import frozen

from ...domain.versions import Version
from ...serialization import registry_entry

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
