"""The tracer of a server: its sampler, its queue of spans and what sends them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import BoundedSemaphore, Thread
from typing import Any

from prometheus_client import CollectorRegistry, Counter
from twisted.application.service import Service
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ... import __version__
from ...config import ConfigError
from ...domain.ports.tracing import TRACE
from ...feature.server import SERVICES, Server
from ...web.access_log import OBSERVERS
from .settings import TracesConfig

try:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased, Sampler, SamplingResult
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased as Share

    from .spans import Spans
except ImportError as missing:
    raise ConfigError(f"traces.endpoint: install the extra: directory-server[traces] ({missing.name})") from None

MAX_QUEUED = 4_096
"""Ended spans that wait to be sent. Further ones are dropped and counted."""

BATCH = 512
"""Spans of a request to the collector."""

DELAY = 2_000
"""Milliseconds between two requests to the collector."""

DEADLINE = 5.0
"""Seconds for a request to the collector, with its repetitions."""

STOP = 3.0
"""Seconds for the last spans when the server stops."""


class Draw(Sampler):
    """Record a share of the traces, whatever trace ids clients choose."""

    def __init__(self, share: float) -> None:
        self._share = Share(share)
        self._ids = RandomIdGenerator()

    def should_sample(self, parent_context: Any, trace_id: int, *args: Any, **kwargs: Any) -> SamplingResult:
        return self._share.should_sample(parent_context, self._ids.generate_trace_id(), *args, **kwargs)

    def get_description(self) -> str:
        return "Draw"


class Queue(BatchSpanProcessor):
    """The bounded queue of the SDK, which its thread sends. `places` are those that are free."""

    def __init__(self, exporter: SpanExporter, dropped: Callable[[int], None]) -> None:
        self._places = BoundedSemaphore(MAX_QUEUED)
        self._dropped = dropped
        sending = Sending(exporter, self._taken, dropped)
        super().__init__(sending, MAX_QUEUED, DELAY, BATCH, int(DEADLINE * 1000))

    def on_end(self, span: ReadableSpan) -> None:
        if self._places.acquire(blocking=False):
            super().on_end(span)
        else:
            self._dropped(1)

    def _taken(self, count: int) -> None:
        self._places.release(count)


class Sending(SpanExporter):
    """Sends spans, in the thread of the SDK. Those that the collector does not accept are dropped."""

    _log = Logger()

    def __init__(self, exporter: SpanExporter, taken: Callable[[int], None], dropped: Callable[[int], None]) -> None:
        self._exporter = exporter
        self._taken = taken
        self._dropped = dropped
        self._fails = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._taken(len(spans))
        result = self._exporter.export(spans)
        fails = result is not SpanExportResult.SUCCESS
        if fails:
            self._dropped(len(spans))
        if fails != self._fails:
            self._fails = fails
            self._log.warn("The collector of traces {outcome}", outcome="accepts no spans" if fails else "works again")
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class Tracing(Service):
    """Starts the queue of spans with the server, and sends the last ones within STOP seconds of its end."""

    def __init__(self, provider: TracerProvider, new_queue: Callable[[], BatchSpanProcessor], reactor: Any) -> None:
        self._provider = provider
        self._new_queue = new_queue
        self._reactor = reactor

    def startService(self) -> None:
        super().startService()
        self._queue = self._new_queue()
        self._provider.add_span_processor(self._queue)

    def stopService(self) -> Deferred[None]:
        super().stopService()
        stopped: Deferred[None] = Deferred()

        def finish() -> None:
            if not stopped.called:
                stopped.callback(None)

        def stop() -> None:
            self._queue.shutdown()
            self._reactor.callFromThread(finish)

        # A thread of the reactor's pool would make the process wait for it.
        Thread(target=stop, name="traces-stop", daemon=True).start()
        return stopped.addTimeout(STOP, self._reactor, lambda result, _: None)


def dropped_spans(registry: CollectorRegistry) -> Counter:
    """Return the metric of spans that the collector does not get."""
    return Counter("directory_trace_spans_dropped", "Spans that were not sent to the collector.", registry=registry)


def run(server: Server) -> None:
    """Add the trace. Raises ConfigError."""
    settings = server.config.of(TracesConfig)
    # It logs text of clients, and each failure.
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    logging.getLogger("opentelemetry").propagate = False
    counter = dropped_spans(server.metrics)
    share = Draw(settings.sample)
    followed = {"remote_parent_sampled": ALWAYS_ON, "remote_parent_not_sampled": ALWAYS_OFF}
    ignored = {"remote_parent_sampled": share, "remote_parent_not_sampled": share}
    provider = TracerProvider(
        sampler=ParentBased(share, **(followed if settings.follow else ignored)),
        resource=Resource.create({"service.name": settings.service, "service.version": __version__}),
        shutdown_on_exit=False,
    )
    exporter = OTLPSpanExporter(settings.endpoint, headers=dict(settings.headers()), timeout=DEADLINE)
    spans = Spans(provider.get_tracer("directory_server", __version__), counter.inc)
    tracing = Tracing(provider, lambda: Queue(exporter, counter.inc), server.reactor)
    server.add(SERVICES, tracing)
    server.add(OBSERVERS, spans.observe)
    server.set(TRACE, spans)
