"""What is drawn at random, and what is kept of it."""

from __future__ import annotations

import secrets
from hashlib import sha256

_ID_LETTERS = "23456789abcdefghijkmnpqrstuvwxyz"
"""Thirty-two that are not mistaken for one another when an id is read aloud."""


def new_id() -> str:
    """Return an id for a key or an account, which is no secret."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(8))


def new_token() -> str:
    """Return a secret of 256 bits that can stand in a URL or a cookie."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """Return what is kept of a secret; it has too many bits to be guessed, so this need not be slow."""
    return sha256(secret.encode("utf-8", "replace")).digest()
