"""What streams of MCP carry: that the list of resources has changed, and the life of a modern subscription to that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import serialization
from ...serialization import Id
from ._errors import INVALID_PARAMS, INVALID_REQUEST, RpcError
from ._methods import SERVER_INFO

META_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

MAX_ID = 256
"""Characters of an id that names a subscription: every frame of that repeats it."""

_FLAGS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


def honoured(identity: Id, params: Mapping[str, Any]) -> dict[str, bool]:
    """Return those of the notifications that `params` ask for which are ever sent. Raises RpcError."""
    if len(str(identity)) > MAX_ID:
        raise RpcError(INVALID_REQUEST, f"id: of a subscription has at most {MAX_ID} characters.", status=400)
    wanted = params.get("notifications")
    if not isinstance(wanted, dict):
        raise RpcError(INVALID_PARAMS, "params.notifications: is required, an object.", status=400)
    for flag in _FLAGS:
        if not isinstance(wanted.get(flag), bool | None):
            raise RpcError(INVALID_PARAMS, f"params.notifications.{flag}: must be true or false.", status=400)
    return {"resourcesListChanged": True} if wanted.get("resourcesListChanged") else {}


def acknowledged(identity: Id, notifications: Mapping[str, bool]) -> bytes:
    """Return the first frame of a subscription."""
    params = {"notifications": notifications, "_meta": {META_SUBSCRIPTION: identity}}
    return _frame({"method": "notifications/subscriptions/acknowledged", "params": params})


def changed(identity: Id | None) -> bytes:
    """Return the frame that says that the list has changed, on a subscription or (None) on the stream of a GET."""
    params = {} if identity is None else {"params": {"_meta": {META_SUBSCRIPTION: identity}}}
    return _frame({"method": "notifications/resources/list_changed", **params})


def ended(identity: Id) -> bytes:
    """Return the last frame of a subscription: the result of the request that opened it."""
    meta = {META_SERVER_INFO: SERVER_INFO, META_SUBSCRIPTION: identity}
    return _frame({"id": identity, "result": {"resultType": "complete", "_meta": meta}})


def _frame(message: Mapping[str, Any]) -> bytes:
    return serialization.event({"jsonrpc": "2.0", **message}, name="message")
