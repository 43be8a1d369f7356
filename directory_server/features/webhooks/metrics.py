"""Metrics of webhooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge

from .rules import Webhook

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
