"""Prometheus metrics: counters, gauges collected at each scrape, and the listener that serves them."""

from ._listener import CONNECTIONS, MetricsSite
from ._metrics import Lag, Metrics
