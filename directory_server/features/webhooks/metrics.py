"""Metrics of webhooks."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

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
        """Read the states of webhooks at each scrape."""
        self._registry.register(_Gauges(webhooks, now))


@frozen(eq=False)
class _Gauges(Collector):
    _webhooks: Callable[[], Sequence[Webhook]]
    _now: Callable[[], float]

    def collect(self) -> Iterator[Metric]:
        webhooks, now = self._webhooks(), self._now()
        states = GaugeMetricFamily("directory_webhooks", "Webhooks by state.", labels=["state"])
        counts = Counts[str](webhook.state(now) for webhook in webhooks)
        for state in STATES:
            states.add_metric([state], counts[state])
        yield states
        failing = [now - webhook.failing_since for webhook in webhooks if webhook.failing_since is not None]
        yield GaugeMetricFamily(
            "directory_webhook_failing_seconds",
            "Seconds since the webhook that fails for the longest time has begun to fail; 0 if none does.",
            max(failing, default=0.0),
        )
