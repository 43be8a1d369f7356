"""Recorder of the last use of each API key in memory, which a timer writes; and the names of client programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from twisted.logger import Logger

from ..domain.errors import Unavailable
from ..domain.keys import MAX_NAME, Client, KeyUse
from ..http import Request
from ..http.headers import value as header
from ..http.proxies import Proxies
from ..tables import StoredKeyUses
from ..texts.sanitize import clean_line

INTERVAL = 300.0
"""Seconds after a written use of a key in which other uses by the same client are not written."""

FLUSH_INTERVAL = 5.0
"""Seconds between two writes of noted uses."""

FORGET_INTERVAL = 3_600.0
"""Seconds between two deletions of old uses."""

MAX_KEYS = 50_000
"""Largest number of keys whose uses the recorder remembers."""


class KeyUseRecorder:
    """Records uses of keys. `now` returns seconds since the epoch; `lifetime` is in seconds, 0 to record nothing."""

    _log = Logger()

    def __init__(self, uses: StoredKeyUses, proxies: Proxies, now: Callable[[], float], lifetime: float) -> None:
        self._uses = uses
        self._proxies = proxies
        self._now = now
        self._lifetime = lifetime
        # The time of the next note of a key, and the User-Agent of the last one.
        self._due: dict[str, tuple[float, object]] = {}
        self._noted: dict[str, KeyUse] = {}
        self._has_failed = False
        # Only `initialize` names an MCP client; later requests have the same User-Agent.
        self._mcp_names: dict[str, tuple[str, str]] = {}

    def note(self, key_id: str, request: Request) -> None:
        """Note that `request` used a key, unless a use of the same client in the last INTERVAL seconds is noted."""
        now, agent = self._now(), request.received.get(b"user-agent")
        due, last_agent = self._due.get(key_id, (0.0, None))
        if (due > now and agent == last_agent) or not self._lifetime:
            return
        if len(self._due) >= MAX_KEYS:
            self._due.clear()
            self._mcp_names.clear()
        self._due[key_id] = now + INTERVAL, agent
        name = client_name(header(request, "User-Agent"))
        named, mcp_name = self._mcp_names.get(key_id, ("", ""))
        if mcp_name and named == name:
            name = mcp_name
        self._noted[key_id] = KeyUse(key_id, now, Client(self._proxies.network(request), name))

    def note_mcp_client(self, key_id: str, request: Request, client_info: Any) -> None:
        """Note the `clientInfo` of an MCP client, whose request `note` has noted before."""
        name = mcp_client_name(client_info)
        if not name or not self._lifetime:
            return
        named = client_name(header(request, "User-Agent")), name
        noted = self._noted.get(key_id)
        if noted is not None or self._mcp_names.get(key_id) != named:
            self._noted[key_id] = KeyUse(key_id, self._now(), Client(self._proxies.network(request), name))
        self._mcp_names[key_id] = named

    async def flush(self) -> None:
        """Write the noted uses. If the storage is unavailable, the next use of each key is noted again.

        The log says it once, until uses are written.
        """
        noted, self._noted = self._noted, {}
        if not noted:
            return
        try:
            await self._uses.record(list(noted.values()))
        except Unavailable as error:
            for key_id in noted:
                self._due.pop(key_id, None)
            if not self._has_failed:
                self._log.warn("Uses of keys cannot be written: {reason}", reason=error.message)
            self._has_failed = True
        else:
            self._has_failed = False

    async def forget(self) -> None:
        """Delete the stored uses that are older than the lifetime. Raises Unavailable."""
        await self._uses.forget(self._now() - self._lifetime)


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
