"""Random ids, random secrets, and digests of secrets."""

from __future__ import annotations

import re
import secrets
import string
from hashlib import sha256
from zlib import crc32

_ID_LETTERS = "23456789abcdefghijkmnpqrstuvwxyz"
"""32 characters that are not confused when an id is read aloud."""

_BASE36 = string.ascii_lowercase + string.digits

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase

_KEY_PREFIX = "mcpd_"

_KEY_SECRET = re.compile(rf"({_KEY_PREFIX}[0-9A-Za-z]{{32}})([0-9A-Za-z]{{6}})")


def new_id() -> str:
    """Return a random id for a key, a token or an account. It is not secret."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(8))


def new_token() -> str:
    """Return a secret of 256 bits that is safe in a URL or a cookie."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """Return the stored digest of a secret. A fast hash is enough, because a random secret cannot be guessed."""
    return sha256(secret.encode("utf-8", "replace")).digest()


def new_key_secret() -> str:
    """Return a new API key: `mcpd_`, 32 random characters (190 bits) and a checksum of 6."""
    text = _KEY_PREFIX + "".join(secrets.choice(_BASE62) for _ in range(32))
    return text + _checksum(text)


def is_key_secret(secret: str) -> bool:
    """Return whether `secret` has the format and the checksum of an API key."""
    match = _KEY_SECRET.fullmatch(secret)
    return match is not None and _checksum(match[1]) == match[2]


def new_registry_secret() -> str:
    """Return a new registry token: 32 lower-case letters and digits (165 bits), safe in a path."""
    return "".join(secrets.choice(_BASE36) for _ in range(32))


def _checksum(text: str) -> str:
    """Return the CRC-32 of `text` as six digits in base 62."""
    number, digits = crc32(text.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits
