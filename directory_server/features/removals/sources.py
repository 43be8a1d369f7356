"""Documents of a source of advisories: a JSON file, a folder of them, or a zip archive. All of it is hostile."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from stat import S_ISREG
from typing import Any
from urllib.parse import urlsplit
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from twisted.web.client import Agent
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent

from ... import __version__
from ...domain.errors import DirectoryError
from ...http_client import (
    REDIRECT_CODES,
    BadResponse,
    BoundedAgent,
    CertificatePolicy,
    HeadBoundedPool,
    drop,
    exchanged,
    read_body,
)
from ...runtime.files import read_regular_file

MAX_DOCUMENTS = 1_000_000
"""Documents of a source."""

MAX_DOCUMENT = 1_000_000
"""Bytes of a document. A larger one is left out."""

MAX_BYTES = 8_000_000_000
"""Bytes of all documents of a source."""

MAX_ARCHIVE = 1_000_000_000
"""Bytes of a zip archive."""

MAX_DIRECTORY = 60_000_000
"""Bytes of the list of files in an archive. Those of 300,000 files take 200 MB of memory while it is read."""

_END = 65_536 + 22 + 20 + 56
"""Bytes in which an archive ends: the longest comment, and three records."""

MAX_DEPTH = 8
"""Levels of folders in a folder. OSSF's repository has 6."""

_ZIP_ERRORS = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
"""What zipfile raises for broken, encrypted and unknown archives."""


class SourceFailed(DirectoryError):
    """A source cannot be read; the message is a sentence."""

    code = "source_failed"


def documents_of(path: Path) -> Iterator[bytes | None]:
    """Yield the JSON documents below `path`, None for each that is left out. Raises SourceFailed."""
    try:
        if path.is_dir():
            found = _folder(path, MAX_DEPTH)
        elif is_zipfile(path):
            found = _archive(path)
        else:
            found = iter([_file(path)])
        count = size = 0
        for document in found:
            count += 1
            size += len(document or b"")
            if count > MAX_DOCUMENTS or size > MAX_BYTES:
                raise SourceFailed(f"It has more than {MAX_DOCUMENTS:,} documents or {MAX_BYTES:,} bytes.")
            yield document
    except OSError as error:
        raise SourceFailed(f"It cannot be read: {error.strerror or error}.") from None
    if not count:
        raise SourceFailed("It has no JSON document.")


def _file(path: Path) -> bytes | None:
    status = path.stat()
    if S_ISREG(status.st_mode) and status.st_size > MAX_DOCUMENT:
        return None
    body = read_regular_file(path)
    return body if len(body) <= MAX_DOCUMENT else None


def _folder(path: Path, depth: int) -> Iterator[bytes | None]:
    with os.scandir(path) as found:
        for entry in sorted(found, key=lambda entry: entry.name):
            # Links may lead in a circle, or out of the folder.
            if entry.is_dir(follow_symlinks=False):
                if depth:
                    yield from _folder(Path(entry.path), depth - 1)
            elif entry.name.endswith(".json") and entry.is_file(follow_symlinks=False):
                yield _file(Path(entry.path))


def _archive(path: Path) -> Iterator[bytes | None]:
    if path.stat().st_size > MAX_ARCHIVE:
        raise SourceFailed(f"The archive is larger than {MAX_ARCHIVE:,} bytes.")
    if _directory_size(path) > MAX_DIRECTORY:
        raise SourceFailed(f"The list of files in the archive is larger than {MAX_DIRECTORY:,} bytes.")
    try:
        archive = ZipFile(path)
    except _ZIP_ERRORS:
        raise SourceFailed("The archive is broken.") from None
    with archive:
        for member in archive.filelist:
            if not member.is_dir() and member.filename.endswith(".json"):
                yield _member(archive, member)


def _directory_size(path: Path) -> int:
    """Return the bytes of the list of files at the end of an archive, which is read as a whole (APPNOTE.TXT, 4.3)."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        start = file.seek(max(0, size - _END))
        tail = file.read()
        end = tail.rfind(b"PK\5\6")
        if end < 0 or len(tail) < end + 22:
            # zipfile may read the record in which this signature is a number, so all could be the list.
            return size
        stated: int = struct.unpack_from("<L", tail, end + 12)[0]
        locator = end - 20
        if locator < 0 or tail[locator : locator + 4] != b"PK\6\7":
            return stated
        # The size of a large archive is in another record. zipfile reads up to that record, whatever it states: that of
        # the stated place, or the one before the locator, which depends on the version of Python.
        place: int = struct.unpack_from("<Q", tail, locator + 8)[0]
        sizes = []
        for at in (min(place, start + locator), max(0, start + locator - 56)):
            file.seek(at)
            record = file.read(56)
            if record[:4] == b"PK\6\6" and len(record) == 56:
                sizes.append(struct.unpack_from("<Q", record, 40)[0])
        return max(sizes, default=size)


def _member(archive: ZipFile, member: ZipInfo) -> bytes | None:
    if member.file_size > MAX_DOCUMENT:
        return None
    try:
        with archive.open(member) as file:
            # The stated size may be wrong.
            body = file.read(MAX_DOCUMENT + 1)
    except _ZIP_ERRORS:
        return None
    return body if len(body) <= MAX_DOCUMENT else None


CONNECT, DEADLINE = 10.0, 300.0
"""Timeouts in seconds of a connection attempt, and of a download."""

Download = Callable[[str, Path], Awaitable[None]]
"""`download(url, path)` writes the body of a URL to `path`. Raises SourceFailed."""


def is_url(source: str) -> bool:
    """Return whether a source is a URL, not a path."""
    return urlsplit(source).scheme in ("http", "https")


def downloader(reactor: Any) -> Download:
    """Return a function that downloads over connections of its own."""

    async def download(url: str, path: Path) -> None:
        pool = HeadBoundedPool(reactor, persistent=False)
        agent = BoundedAgent(Agent(reactor, CertificatePolicy(), connectTimeout=CONNECT, pool=pool), MAX_ARCHIVE)
        try:
            await exchanged(_fetch(agent, url, path), DEADLINE, reactor)
        except BadResponse as error:
            raise SourceFailed(error.message) from None
        except OSError as error:
            raise SourceFailed(f"It cannot be stored: {error.strerror}.") from None

    return download


async def _fetch(agent: IAgent, url: str, path: Path) -> None:
    headers = Headers({"User-Agent": [f"directory-server/{__version__} (advisories)"]})
    response = await agent.request(b"GET", url.encode("ascii"), headers, None)
    if response.code == 200:
        with path.open("wb") as file:
            await read_body(response, file.write)
        return
    drop(response)
    if response.code in REDIRECT_CODES:
        raise SourceFailed(f"It answered {response.code}. Redirects are not followed: configure the final URL.")
    raise SourceFailed(f"It answered {response.code}.")
