"""Spans of the parts of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any, TypeVar
from urllib.parse import urlsplit

from attrs import define, field, frozen
from opentelemetry import context as contexts
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IResponse
from zope.interface import implementer

from ...domain.ports.runtime import Offload
from ...domain.ports.tracing import Traced
from ...domain.search import Page
from ...http import Request
from ...http.headers import values
from ...web.access_log import AccessRecord

T = TypeVar("T")

MAX_OPEN = 10_000
"""Requests with a span that has not ended."""

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"))

_PROPAGATOR = TraceContextTextMapPropagator()
"""W3C Trace Context. It ignores malformed headers, and bounds their lengths and the members of `tracestate`."""

Handler = Callable[..., Coroutine[Any, Any, bytes | None]]


@define(eq=False)
class Spans:
    """Implement Trace with `tracer`. `dropped` is called for each request whose span gets no end."""

    _tracer: Tracer
    _dropped: Callable[[], None]
    _open: dict[str, Span] = field(factory=dict, init=False)
    """The spans of running requests by the ids of the requests, oldest first."""

    def __call__(self, kind: Traced, part: T, /) -> T:
        """Return `part`, each call of which is recorded as a span."""
        wrappers: dict[Traced, Callable[[Any], Any]] = {
            "request": self._handler,
            "charge": lambda quota: _Part(quota, charge=self._method("charge", quota.charge, lambda _: {})),
            "search": lambda index: _Part(
                index,
                search=self._method("search", index.search, _page_counts),
                search_tools=self._method("search tools", index.search_tools, lambda tools: _counts(len(tools))),
            ),
            "plan": lambda function: self._function("plan", function),
            "rank": lambda function: self._function("rank", function),
            "threads": _with_context,
            "upstream": lambda agent: TracedAgent(agent, self._tracer),
        }
        traced: T = wrappers[kind](part)
        return traced

    def observe(self, records: Sequence[AccessRecord]) -> None:
        """End the spans of finished requests."""
        for record in records:
            span = self._open.pop(record.request_id, None)
            if span is not None:
                span.set_attribute("http.response.status_code", record.status)
                span.set_attribute("http.response.body.size", record.size)
                if record.errors:
                    span.set_attribute("error.type", record.error)
                if record.status >= 500:
                    span.set_status(StatusCode.ERROR)
                span.end()

    def _handler(self, handler: Handler) -> Handler:
        def run(request: Request, **parameters: Any) -> Any:
            method = request.method.decode("latin-1")
            method = method if method in _METHODS else "_OTHER"
            span = self._tracer.start_span(
                f"{method} {request.route}",
                context=_context_of(request),
                kind=SpanKind.SERVER,
                attributes={
                    "http.request.method": method,
                    "http.route": request.route,
                    "directory.request.id": request.id,
                },
            )
            if span.is_recording():
                self._open[request.id] = span
                if len(self._open) > MAX_OPEN:
                    del self._open[next(iter(self._open))]
                    self._dropped()
            context = copy_context()
            context.run(contexts.attach, set_span_in_context(span))
            return InContext(handler(request, **parameters), context)

        return run

    def _function(self, name: str, function: Callable[..., T]) -> Callable[..., T]:
        def run(*args: Any) -> T:
            with self._span(name):
                return function(*args)

        return run

    def _method(
        self, name: str, method: Callable[..., Awaitable[T]], counts: Callable[[T], Mapping[str, float]]
    ) -> Callable[..., Coroutine[Any, Any, T]]:
        async def run(*args: Any) -> T:
            with self._span(name) as span:
                result = await method(*args)
                span.set_attributes(counts(result))
                return result

        return run

    @contextmanager
    def _span(self, name: str) -> Iterator[Span]:
        """Record a span of the block, with the kind of an error: its message and stack may have text of a query."""
        with self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute("error.type", _error_type(error))
                raise


@frozen(eq=False)
class InContext:
    """The coroutine of a request, each step of which runs in `context`.

    The reactor calls the steps from its own context, whatever the coroutine has waited for.
    """

    _coroutine: Coroutine[Any, Any, Any]
    _context: Context

    def send(self, value: Any) -> Any:
        """Continue the coroutine."""
        return self._context.run(self._coroutine.send, value)

    def throw(self, *error: Any) -> Any:
        """Continue the coroutine with an error."""
        return self._context.run(self._coroutine.throw, *error)


class _Part:
    """A part of a server, some methods of which are replaced."""

    def __init__(self, part: Any, **methods: Callable[..., Any]) -> None:
        self._part = part
        vars(self).update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def __len__(self) -> int:
        return len(self._part)


@implementer(IAgent)
@frozen(eq=False)
class TracedAgent:
    """An agent with a span for each request, until the head of its response. It sends the context of the trace."""

    _agent: IAgent
    _tracer: Tracer

    def request(
        self, method: bytes, uri: bytes, headers: Headers | None = None, bodyProducer: IBodyProducer | None = None
    ) -> Deferred[IResponse]:
        target, name = urlsplit(uri.decode("latin-1")), method.decode("latin-1")
        attributes: dict[str, str | int] = {
            "http.request.method": name,
            "server.address": target.hostname or "",
            "server.port": target.port or (443 if target.scheme == "https" else 80),
        }
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes)
        fields: dict[str, str] = {}
        _PROPAGATOR.inject(fields, set_span_in_context(span))
        headers = Headers() if headers is None else headers.copy()
        for field_name, value in fields.items():
            headers.setRawHeaders(field_name, [value])

        def end(result: Any) -> Any:
            if isinstance(result, Failure):
                span.set_attribute("error.type", _error_type(result.value))
                span.set_status(StatusCode.ERROR)
            else:
                span.set_attribute("http.response.status_code", result.code)
            span.end()
            return result

        response: Deferred[IResponse] = self._agent.request(method, uri, headers, bodyProducer)
        return response.addBoth(end)


def _context_of(request: Request) -> contexts.Context:
    """Return the context of the client's span; the empty one without a valid `traceparent`, or with several."""
    names = ("traceparent", "tracestate")
    fields = {name: received for name in names if (received := values(request, name))}
    return _PROPAGATOR.extract(fields if len(fields.get("traceparent", ())) == 1 else {}, contexts.Context())


def _with_context(offload: Offload) -> Offload:
    """Return `offload`, whose functions run in the context of their callers."""

    def run(function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Awaitable[T]:
        return offload(copy_context().run, function, *args, **kwargs)

    return run


def _page_counts(page: Page) -> Mapping[str, float]:
    return {**_counts(len(page.hits.records)), "directory.search.strength": page.strength}


def _counts(hits: int) -> Mapping[str, float]:
    return {"directory.search.hits": hits}


def _error_type(error: BaseException | None) -> str:
    """Return the code of an error of the domain, else the name of its class."""
    return str(getattr(error, "code", "") or type(error).__name__)
