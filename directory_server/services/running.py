"""Records of running servers: each process describes itself in a file, which it keeps locked until it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from attrs import frozen

from .. import serialization
from ..domain.errors import BadInput

FOLDER = "processes"
"""The folder of the records, inside the data directory."""

MAX_BYTES = 1_000_000
"""The most bytes of a record that is read."""

MAX_PROCESSES = 1_000
"""The most records that are read."""


@frozen
class RunningServer:
    """A server process. `started_at` is in seconds since the epoch. `settings` are texts by name, secrets masked."""

    pid: int
    version: str
    started_at: float
    settings: Mapping[str, str]


class ServerRecord:
    """The record of this process in `folder`, from the constructor until `close`. Raises OSError.

    The lock, which ends with the process, distinguishes the records of running processes from those of killed ones. A
    process id would not, because it is used again.
    """

    def __init__(self, folder: Path, server: RunningServer) -> None:
        records = folder / FOLDER
        records.mkdir(mode=0o700, exist_ok=True)
        self._path = records / f"{server.pid}-{token_hex(4)}.json"
        draft = self._path.with_suffix(".new")
        self._descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            content = {
                "pid": server.pid,
                "version": server.version,
                "started_at": server.started_at,
                "settings": dict(server.settings),
            }
            os.write(self._descriptor, serialization.encode(content))
            # Renamed when it is locked: a reader deletes records that nobody locks.
            draft.rename(self._path)
        except OSError:
            os.close(self._descriptor)
            with suppress(OSError):
                draft.unlink()
            raise

    def close(self) -> None:
        """Delete the record."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._descriptor)


def running_servers(folder: Path) -> Sequence[RunningServer]:
    """Return the servers that run on the data in `folder`, the first started first; delete records of ended ones."""
    try:
        paths = sorted((folder / FOLDER).glob("*.json"))[:MAX_PROCESSES]
    except OSError:
        return []
    servers = [server for path in paths if (server := _read(path)) is not None]
    return sorted(servers, key=lambda server: server.started_at)


def _read(path: Path) -> RunningServer | None:
    """Return the server of a record; None if it has ended or the record is malformed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _server(serialization.decode(os.read(descriptor, MAX_BYTES)))
        path.unlink()
    except (OSError, ValueError, LookupError, TypeError, BadInput):
        return None
    finally:
        os.close(descriptor)
    return None


def _server(value: Any) -> RunningServer:
    """Return the server of a decoded record. Raises LookupError, TypeError and ValueError."""
    settings = {str(name): str(text) for name, text in value["settings"].items()}
    return RunningServer(int(value["pid"]), str(value["version"]), float(value["started_at"]), settings)
