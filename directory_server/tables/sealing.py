"""Encryption of new secrets under the secret of the session that may read them."""

from __future__ import annotations

from secrets import token_bytes

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_SALT, _NONCE, _KEY = 16, 12, 32
"""Bytes of the salt of HKDF (RFC 5869), and of nonce and key of AES-256-GCM (NIST SP 800-38D)."""


def seal(session: str, key_id: str, secret: str) -> tuple[bytes, bytes]:
    """Return a random salt, and the `secret` of what has the id `key_id`, encrypted under `session` and that salt."""
    salt, nonce = token_bytes(_SALT), token_bytes(_NONCE)
    return salt, nonce + _cipher(session, salt).encrypt(nonce, secret.encode(), key_id.encode())


def unseal(session: str, key_id: str, salt: bytes, sealed: bytes) -> str | None:
    """Return the secret that `seal` encrypted; None if salt, text, session or key are others."""
    try:
        return _cipher(session, salt).decrypt(sealed[:_NONCE], sealed[_NONCE:], key_id.encode()).decode()
    except InvalidTag:
        return None


def _cipher(session: str, salt: bytes) -> AESGCM:
    """Return AES-256-GCM under a key that is derived from a session's secret by HKDF."""
    derived = HKDF(SHA256(), _KEY, salt, b"directory-server new secret").derive(session.encode("utf-8", "replace"))
    return AESGCM(derived)
