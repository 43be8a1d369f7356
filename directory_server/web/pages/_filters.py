"""What templates do to values that others wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ...sanitize import clean, clean_text


def plain(value: object, most: int = 300) -> str:
    """Return text of at most `most` characters that is clean: see `sanitize`."""
    return clean_text(str(value), most)


def link(value: object) -> str:
    """Return a URL that a link may lead to: one of http or https with a host; for all else an empty text."""
    text = str(value)
    if len(text) > 2_000 or not text.isprintable() or " " in text or clean(text) != text:
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    return text if parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc else ""


def host(value: object) -> str:
    """Return the host of a URL that `link` lets pass, for people to see where it leads."""
    return urlsplit(link(value)).hostname or ""


def day(value: str) -> str:
    """Return the date of a time as registries write it (RFC 3339)."""
    return plain(value[:10])


FILTERS: Mapping[str, Callable[..., Any]] = {"plain": plain, "link": link, "host": host, "day": day}
