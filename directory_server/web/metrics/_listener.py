"""The listener at which metrics are answered: another one than that of the doors, for it asks for no key."""

from __future__ import annotations

from twisted.web.http import Request
from twisted.web.resource import Resource
from twisted.web.server import Site

from ._metrics import Metrics

PATH = b"metrics"


class MetricsSite(Site):
    """Logs nothing of requests, of which there is one every few seconds."""

    displayTracebacks = False

    def log(self, request: Request) -> None:
        """Do nothing."""


def site(metrics: Metrics) -> Site:
    """Return what answers `/metrics` (Prometheus and OpenMetrics text formats)."""
    # It chooses a reactor as soon as it is imported.
    from prometheus_client.twisted import MetricsResource

    root = Resource()
    root.putChild(PATH, MetricsResource(metrics.registry))
    return MetricsSite(root, parsePOSTFormSubmission=False)
