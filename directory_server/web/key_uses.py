"""Recorder of the last use of each API key. A request only notes its use in memory; a timer writes the notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.logger import Logger

from ..domain.clients import Client
from ..domain.errors import Unavailable
from ..domain.keys import KeyUse
from ..domain.ports.access import KeyUses
from ..http import Request
from ..http.headers import value as header
from ..http.proxies import Proxies
from .user_agents import client_name, mcp_client_name

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

    def __init__(self, uses: KeyUses, proxies: Proxies, now: Callable[[], float], lifetime: float) -> None:
        self._uses = uses
        self._proxies = proxies
        self._now = now
        self._lifetime = lifetime
        # The time of the next note of a key, and the User-Agent of the last one.
        self._due: dict[str, tuple[float, object]] = {}
        self._noted: dict[str, KeyUse] = {}
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
        """Write the noted uses. If the storage is unavailable, log it; the next use of each key is noted again."""
        noted, self._noted = self._noted, {}
        if not noted:
            return
        try:
            await self._uses.record(list(noted.values()))
        except Unavailable as error:
            for key_id in noted:
                self._due.pop(key_id, None)
            self._log.warn("Uses of keys cannot be written: {reason}", reason=error.message)

    async def forget(self) -> None:
        """Delete the stored uses that are older than the lifetime. Raises Unavailable."""
        await self._uses.forget(self._now() - self._lifetime)
