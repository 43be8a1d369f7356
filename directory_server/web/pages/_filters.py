"""Template filters for values of untrusted origin."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ... import hosts
from ...sanitize import clean, clean_text

_PLAIN_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}")


def plain(value: object, limit: int = 300) -> str:
    """Return sanitized text of at most `limit` characters, see `sanitize`."""
    return clean_text(str(value), limit)


def link(value: object) -> str:
    """Return a URL that is safe as a link, its host in ASCII; for any other value an empty text.

    The URL has the scheme http or https, a valid host and no user information.
    """
    text = str(value)
    if len(text) > 2_000 or not text.isprintable() or " " in text or clean(text) != text:
        return ""
    try:
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            return ""
        return text if _is_plain(parts.netloc) else hosts.ascii_url(text)
    except ValueError:
        return ""


def host(value: object) -> str:
    """Return the host of a URL that `link` accepts, else an empty text."""
    return urlsplit(link(value)).hostname or ""


def caution(value: object) -> str:
    """Return the reason to check the host of a URL: `international`, `private`, `local`, or an empty text."""
    try:
        host = hosts.of(str(value))
    except ValueError:
        return ""
    return "international" if host.international else "" if host.scope == "public" else host.scope


def _is_plain(netloc: str) -> bool:
    # Fast path: most hosts are lower-case letters, digits and dots and need no conversion.
    return bool(_PLAIN_HOST.fullmatch(netloc))


FILTERS: Mapping[str, Callable[..., Any]] = {"plain": plain, "link": link, "host": host, "caution": caution}
