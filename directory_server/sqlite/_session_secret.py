"""The secret that signs sessions: made once, then the same for every process and after every restart."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from ..domain.errors import Unavailable

SIZE = 32
"""Bytes of the secret."""


def session_secret(folder: Path) -> bytes:
    """Return the data directory's session secret, making it if this is the first to ask.

    Raises Unavailable if it cannot be read or made, or is not one.
    """
    path = folder / "session.secret"
    try:
        if not path.exists():
            _make(path)
        secret = path.read_bytes()
    except OSError as error:
        raise Unavailable(f"{path} cannot be read or made: {error.strerror}.") from error
    if len(secret) != SIZE:
        raise Unavailable(
            f"{path} must hold {SIZE} bytes and holds {len(secret)}. Restore it from a backup, or delete it to have "
            "a new one made, with which every MCP session begins anew."
        )
    return secret


def _make(path: Path) -> None:
    # Written elsewhere and then linked: no process ever sees half a secret, and the first link wins.
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
