"""URLs of issuers."""

from __future__ import annotations

from urllib.parse import urlsplit

from .. import hosts

MAX_URL = 1_000
"""Characters of a URL."""


def issuer_url(url: str) -> str:
    """Return `url`, an https URL without credentials and fragment, or an http URL of this machine.

    Raises ValueError with a message that starts with "must". OpenID Connect Discovery 1.0, section 3, demands https.
    """
    try:
        parts = urlsplit(url)
        host = hosts.read(parts.hostname or "")
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and host.scope == "local")
        is_plain = url.isascii() and url.isprintable() and not set(' "\\<>') & set(url) and len(url) <= MAX_URL
        is_valid = is_safe and is_plain and parts.username is None and not parts.fragment and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError("must be an https URL without a password, or an http URL of this machine")
    return url
