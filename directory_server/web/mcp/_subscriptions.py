"""Events of MCP streams: changes of the resource list, and acknowledgement and result of a subscription."""

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
"""Maximum characters of a subscription id: each of its events repeats it."""

_FLAGS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


def accepted_notifications(identity: Id, params: Mapping[str, Any]) -> dict[str, bool]:
    """Return the requested notifications that the server sends. Raises RpcError."""
    if len(str(identity)) > MAX_ID:
        raise RpcError(INVALID_REQUEST, f"id: must have at most {MAX_ID} characters for a subscription.", status=400)
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
