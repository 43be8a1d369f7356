"""Names of client programs: browsers and products in User-Agent headers, and MCP clients."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ..domain.clients import MAX_NAME
from ..sanitize import clean_line

_LONGEST = 400
"""Characters of a User-Agent header, or of the name of an MCP client, that are read. Browsers send at most 250."""

_BROWSERS = (
    ("Edge", re.compile(r"\bEdg(e|A|iOS)?/")),
    ("Opera", re.compile(r"\bOPR/")),
    ("Samsung Internet", re.compile(r"\bSamsungBrowser/")),
    ("Firefox", re.compile(r"\b(Firefox|FxiOS)/")),
    ("Cursor", re.compile(r"\bCursor/")),
    ("Visual Studio Code", re.compile(r"\bCode( - Insiders)?/")),
    ("Chrome", re.compile(r"\b(Headless)?(Chrome|Chromium|CriOS)/")),
    ("Safari", re.compile(r"\bSafari/")),
)
"""The first match counts: most browsers also name older ones."""

_SYSTEMS = (
    ("iOS", re.compile(r"\b(iPhone|iPad|iPod)\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("Windows", re.compile(r"\bWindows\b")),
    ("macOS", re.compile(r"\bMac ?OS\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("Linux", re.compile(r"\b(Linux|X11)\b")),
)

# The first product (RFC 9110, section 10.1.5), without its version.
_PRODUCT = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def client_name(user_agent: str | None) -> str:
    """Return the name of the program that sends `user_agent`, such as "Firefox (Linux)" or "curl"; "" if unknown."""
    return _client_name(user_agent[:_LONGEST]) if user_agent else ""


@lru_cache(1_000)
def _client_name(user_agent: str) -> str:
    product = _PRODUCT.match(user_agent)
    if product is None:
        return ""
    if product[0] != "Mozilla":
        return clean_line(product[0], MAX_NAME)
    browser = _first(_BROWSERS, user_agent) or "Mozilla"
    system = _first(_SYSTEMS, user_agent)
    return f"{browser} ({system})" if system else browser


def mcp_client_name(client_info: Any) -> str:
    """Return the name in an MCP `clientInfo` (Implementation: `title`, else `name`); "" if it is invalid."""
    info = client_info if isinstance(client_info, dict) else {}
    given = (info.get("title"), info.get("name"))
    names = (_clean_name(name[:_LONGEST]) for name in given if isinstance(name, str))
    return next(filter(None, names), "")


@lru_cache(1_000)
def _clean_name(name: str) -> str:
    # Stateless requests repeat the name of their client each time.
    return clean_line(name, MAX_NAME)


def _first(patterns: tuple[tuple[str, re.Pattern[str]], ...], text: str) -> str:
    return next((name for name, pattern in patterns if pattern.search(text)), "")
