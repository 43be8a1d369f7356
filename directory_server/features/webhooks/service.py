"""Webhooks in a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from twisted.internet.defer import Deferred

from ...config import Config
from ...feature.server import FAULTS, SERVICES, Server
from ...search import percolate
from ...tables import Storage
from .dispatcher import Dispatcher
from .metrics import WebhookMetrics
from .rules import Delivery, Message
from .tables import Webhooks

if TYPE_CHECKING:
    from .sender import Sender

SENDER = "webhooks.sender"
"""The name of the network side among the parts that tests replace."""


async def open_webhooks(storage: Storage) -> Webhooks:
    """Return the webhooks of `storage`. Raises Unavailable."""
    return Webhooks(storage.tables, await storage.control.session_secret())


def new_sender(config: Config, reactor: Any, now: Callable[[], float]) -> Sender:
    """Return a sender. `now` returns seconds since the epoch."""
    # The HTTP client takes 3 MB and .1 seconds.
    from .sender import sender_of

    return sender_of(config, reactor, now)


async def send_test(webhooks: Webhooks, webhook_id: str, sender: Sender, now: float) -> Delivery:
    """Send a message without changes to a webhook, log it, and stop the sender; return its delivery."""
    message = Message(f"msg_{webhook_id}_test_{uuid4().hex[:12]}", "test", {"message": "This is a test."})
    try:
        webhook = await webhooks.find(webhook_id)
        sent = await sender.send(webhook.url, await webhooks.secrets(webhook_id, now), message)
    finally:
        sender.stop()
    await webhooks.log(webhook_id, sent.delivery)
    return sent.delivery


def run(server: Server) -> None:
    """Add the service that sends messages."""
    metrics = WebhookMetrics(server.metrics)
    opened: list[Webhooks] = []

    async def opening() -> Webhooks:
        if not opened:
            opened.append(await open_webhooks(server.storage))
        return opened[0]

    dispatcher = Dispatcher(
        lambda: Deferred.fromCoroutine(opening()),
        server.storage.store,
        server.storage.followers,
        lambda: server.replaced.get(SENDER) or new_sender(server.config, server.reactor, server.now),
        percolate,
        server.offload,
        server.reactor,
        server.now,
        metrics.count,
    )
    metrics.watch(lambda: dispatcher.known, server.now)

    def faults() -> dict[str, int]:
        return {"paused_webhooks": sum(webhook.state(server.now()) == "paused" for webhook in dispatcher.known)}

    server.add(SERVICES, dispatcher)
    server.add(FAULTS, faults)
