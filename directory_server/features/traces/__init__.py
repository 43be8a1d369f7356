"""Traces: spans of requests, charges, searches and upstream requests, sent to a collector of OpenTelemetry (OTLP/HTTP).

Off, nothing is imported and no part of the server is wrapped. On, composition passes parts through `Trace`. The context
of a trace follows the coroutine of a request. The thread of the SDK sends spans from a bounded queue.
Spans have names of routes, statuses and counts only: no key, no text of a query, no path and no message of an error.
"""

from ...feature import Feature

FEATURE = Feature("traces", __name__, settings="settings:TracesConfig", run="service:run", runs_if="endpoint")
