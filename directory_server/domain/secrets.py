"""Random ids, random secrets, and digests of secrets."""

from __future__ import annotations

import secrets
from hashlib import sha256

_ID_LETTERS = "23456789abcdefghijkmnpqrstuvwxyz"
"""32 characters that are not confused when an id is read aloud."""


def new_id() -> str:
    """Return a random id for a key, a token or an account. It is not secret."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(8))


def new_token() -> str:
    """Return a secret of 256 bits that is safe in a URL or a cookie."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """Return the stored digest of a secret. A fast hash is enough, because a random secret cannot be guessed."""
    return sha256(secret.encode("utf-8", "replace")).digest()
