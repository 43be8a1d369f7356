"""Prometheus metrics: counters, gauges collected at each scrape, and the handler that serves them."""

from ._listener import CONNECTIONS, MetricsHandlers
from ._metrics import DatabaseGauges, Gauges, Lag, Metrics
