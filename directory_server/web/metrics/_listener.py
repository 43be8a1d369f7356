"""Listener for metrics. It is separate from the public listener because it requires no key."""

from __future__ import annotations

from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import Site

from ._metrics import Metrics

PATH = b"metrics"


class MetricsSite(Site):
    """Serve metrics without an access log: a scraper sends a request every few seconds."""

    displayTracebacks = False

    def log(self, request: Request) -> None:
        """Do nothing."""


def site(metrics: Metrics) -> Site:
    """Return the site that serves `/metrics` (Prometheus and OpenMetrics text formats)."""
    # The import installs a reactor.
    from prometheus_client.twisted import MetricsResource

    root = Resource()
    root.putChild(PATH, MetricsResource(metrics.registry))
    return MetricsSite(root, parsePOSTFormSubmission=False)
