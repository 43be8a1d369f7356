"""Notifications to MCP clients: events of streams and subscriptions, and rate-limited announcements of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ... import serialization
from ...domain.changes import Change
from ...domain.kinds import is_asked
from ...domain.scopes import Scope
from ...serialization import Id
from ...streams import Channel, Hub
from ._errors import INVALID_PARAMS, RpcError
from ._methods import SERVER_INFO

META_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

_FLAGS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


def accepted_notifications(params: Mapping[str, Any]) -> dict[str, bool]:
    """Return the requested notifications that the server sends. Raises RpcError."""
    requested = params.get("notifications")
    if not isinstance(requested, dict):
        raise RpcError(INVALID_PARAMS, "params.notifications: is required and must be an object.", status=400)
    for flag in _FLAGS:
        if not isinstance(requested.get(flag), bool | None):
            raise RpcError(INVALID_PARAMS, f"params.notifications.{flag}: must be true or false.", status=400)
    return {"resourcesListChanged": True} if requested.get("resourcesListChanged") else {}


def acknowledgement(identity: Id, notifications: Mapping[str, bool]) -> bytes:
    """Return the first event of a subscription."""
    params = {"notifications": notifications, "_meta": {META_SUBSCRIPTION: identity}}
    return _event({"method": "notifications/subscriptions/acknowledged", "params": params})


def list_changed(identity: Id | None) -> bytes:
    """Return the event for a changed resource list, on a subscription or, with None, on the stream of a GET."""
    params = {} if identity is None else {"params": {"_meta": {META_SUBSCRIPTION: identity}}}
    return _event({"method": "notifications/resources/list_changed", **params})


def final_result(identity: Id) -> bytes:
    """Return the last event of a subscription: the result of the request that opened it."""
    meta = {META_SERVER_INFO: SERVER_INFO, META_SUBSCRIPTION: identity}
    return _event({"id": identity, "result": {"resultType": "complete", "_meta": meta}})


def _event(message: Mapping[str, Any]) -> bytes:
    return serialization.event({"jsonrpc": "2.0", **message}, name="message")


_LIST_CHANGED = list_changed(None)

INTERVAL = 60.0
"""Minimum seconds between two announcements: each one makes every client request the list."""

SPREAD = 10.0
"""Minimum seconds over which an announcement is delivered, so that the clients do not all send a request at once."""

RATE = 400.0
"""Maximum streams per second to which an announcement is delivered. The requests of so many clients take a tenth of a
core: .25 ms each.
"""


class Announcements:
    """Announcer that announces changes to MCP streams.

    It announces the first change after `delay` seconds, and all changes of the following INTERVAL together at its end.
    With more than SPREAD * RATE streams the delivery takes longer, and the next one begins after it.
    """

    _log = Logger()

    def __init__(self, hub: Hub, clock: IReactorTime, delay: float = 0.0) -> None:
        self._hub = hub
        self._clock = clock
        self._delay = delay
        self._earliest = 0.0
        self._due = False
        self._lists: set[str] = set()
        # Keyed by scope and the event that a channel sends. A channel exists as long as it has a stream.
        self._channels: WeakValueDictionary[tuple[Scope, bytes], Channel] = WeakValueDictionary()

    def begin(self, seq: int) -> None:
        """Do nothing: earlier changes are not announced."""

    async def apply(self, changes: Sequence[Change]) -> None:
        # Resources are servers.
        changes = [change for change in changes if is_asked(change.name, None)]
        if not changes:
            return
        for change in changes:
            self._lists.update(change.lists, change.left)
        if not self._due:
            self._due = True
            delay = max(self._delay, self._earliest - self._clock.seconds())
            deferLater(self._clock, delay, self._announce).addErrback(
                lambda failure: self._log.failure("Cannot announce a change to all MCP clients", failure=failure)
            )

    def channel(self, subscription: Id | None, scope: Scope = None) -> Channel:
        """Return the channel of the streams with this subscription id, None for streams without a subscription.

        It announces the changes of entries within `scope`.
        """
        key = scope, _LIST_CHANGED if subscription is None else list_changed(subscription)
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = self._hub.channel()
        return channel

    def _announce(self) -> Deferred[None]:
        self._due = False
        changed, self._lists = self._lists, set()
        channels = [
            (event, channel)
            for (scope, event), channel in list(self._channels.items())
            if scope is None or not scope.isdisjoint(changed)
        ]
        total = sum(len(channel) for _, channel in channels)
        over = max(SPREAD, total / RATE)
        self._earliest = self._clock.seconds() + max(INTERVAL, over)
        return Deferred.fromCoroutine(self._send(channels, over / max(total, 1)))

    async def _send(self, channels: Sequence[tuple[bytes, Channel]], seconds: float) -> None:
        """Announce a change to `channels`, one after the other, in so many `seconds` per stream."""
        for event, channel in channels:
            # Proportional shares: the streams may be in one channel, or each in its own.
            share = seconds * len(channel)
            channel.send(event, over=share)
            await deferLater(self._clock, share)
