"""Signed session ids, which the server verifies without storing them."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hmac import compare_digest, digest
from secrets import token_urlsafe

from attrs import frozen


@frozen
class McpSessions:
    """Issuer and verifier of session ids: a nonce and an HMAC of the nonce and the key's id.

    Each process with the same `secret` accepts them, before and after a restart. A rotated key keeps its id and so
    its sessions.
    """

    _secret: bytes

    def issue(self, key_id: str) -> str:
        """Return a new session id for a key: visible ASCII (MCP 2025-11-25, Session Management)."""
        nonce = token_urlsafe(16)
        return f"{nonce}.{self._signature(nonce, key_id)}"

    def is_valid(self, session: str, key_id: str) -> bool:
        """Return whether `session` was issued for this key."""
        nonce, _, signature = session.partition(".")
        return compare_digest(signature.encode(), self._signature(nonce, key_id).encode())

    def _signature(self, nonce: str, key_id: str) -> str:
        mac = digest(self._secret, f"{nonce}.{key_id}".encode(), "sha256")
        return urlsafe_b64encode(mac[:16]).rstrip(b"=").decode()
