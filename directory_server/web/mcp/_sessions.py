"""Session ids that say themselves whether they are genuine, so that no process has to remember one."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hmac import compare_digest, digest
from secrets import token_urlsafe

from attrs import frozen


@frozen
class McpSessions:
    """Issues and recognises session ids: a random part, and its HMAC together with the key's id.

    Any process with the same `secret` recognises them, before and after a restart; a rotated key keeps its
    sessions, for it keeps its id.
    """

    _secret: bytes

    def issue(self, key_id: str) -> str:
        """Return a new session id for a key: visible ASCII (MCP 2025-11-25, Session Management)."""
        nonce = token_urlsafe(16)
        return f"{nonce}.{self._signature(nonce, key_id)}"

    def recognise(self, session: str, key_id: str) -> bool:
        """Tell whether `session` was issued for this key."""
        nonce, _, signature = session.partition(".")
        return compare_digest(signature.encode(), self._signature(nonce, key_id).encode())

    def _signature(self, nonce: str, key_id: str) -> str:
        mac = digest(self._secret, f"{nonce}.{key_id}".encode(), "sha256")
        return urlsafe_b64encode(mac[:16]).rstrip(b"=").decode()
