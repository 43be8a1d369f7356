"""Webhooks in a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from prometheus_client import CollectorRegistry, Counter, Gauge
from twisted.internet.defer import Deferred

from ...config import Config
from ...feature.server import FAULTS, SERVICES, Server
from ...search import percolate
from ...tables import Storage
from .dispatcher import Dispatcher
from .rules import Delivery, Message, Webhook
from .tables import Webhooks

if TYPE_CHECKING:
    from .sender import Sender


STATES = ("active", "failing", "paused")


class WebhookMetrics:
    """Counts of messages, and of webhooks by state, in `registry`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._messages = Counter(
            "directory_webhook_messages", "Attempts to send a message.", ["outcome"], registry=registry
        )
        for outcome in ("accepted", "failed"):
            self._messages.labels(outcome)

    def count(self, is_accepted: bool) -> None:
        """Count an attempt to send a message."""
        self._messages.labels("accepted" if is_accepted else "failed").inc()

    def watch(self, webhooks: Callable[[], Sequence[Webhook]], now: Callable[[], float]) -> None:
        """Read the states of webhooks at each scrape. `now` returns seconds since the epoch."""

        def count(state: str) -> int:
            return sum(webhook.state(now()) == state for webhook in webhooks())

        def failing_seconds() -> float:
            since = [webhook.failing_since for webhook in webhooks() if webhook.failing_since is not None]
            return now() - min(since) if since else 0.0

        states = Gauge("directory_webhooks", "Webhooks by state.", ["state"], registry=self._registry)
        for state in STATES:
            states.labels(state).set_function(partial(count, state))
        Gauge(
            "directory_webhook_failing_seconds",
            "Seconds since the webhook that fails for the longest time has begun to fail; 0 if none does.",
            registry=self._registry,
        ).set_function(failing_seconds)


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
