"""The secret that signs sessions: created once, the same for every process and restart."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from ..domain.errors import Unavailable

SIZE = 32
"""Bytes of the secret."""


def session_secret(folder: Path) -> bytes:
    """Return the session secret of the data directory; create it if it does not exist.

    Raises Unavailable if it cannot be read or created, or has the wrong size.
    """
    path = folder / "session.secret"
    try:
        if not path.exists():
            _make(path)
        secret = path.read_bytes()
    except OSError as error:
        raise Unavailable(f"{path} cannot be read or created: {error.strerror}.") from error
    if len(secret) != SIZE:
        raise Unavailable(
            f"{path} must hold {SIZE} bytes and holds {len(secret)}. Restore it from a backup, or delete it to have "
            "a new one created, which ends every MCP session."
        )
    return secret


def _make(path: Path) -> None:
    # Written to a draft and then linked: no process sees a partial secret, and the first link wins.
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(SIZE))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
