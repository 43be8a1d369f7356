"""Traces of a server in memory: spans, their context in and out, and their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import define, field, frozen
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ConnectionRefusedError
from twisted.web.http_headers import Headers

from directory_server.config import ConfigError
from directory_server.features.traces import service, spans
from directory_server.features.traces.settings import TracesConfig

from ...web.conftest import Server, open_server

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
SEARCH = "/api/open/v1/search?keywords=secretword"


@frozen
class Traced:
    """A server with traces, and the exporter that keeps its spans in memory."""

    server: Server
    exporter: InMemorySpanExporter
    tracing: service.Tracing

    def ended(self) -> list[ReadableSpan]:
        """Return and forget the spans that have ended."""
        self.tracing._provider.force_flush()
        ended = list(self.exporter.get_finished_spans())
        self.exporter.clear()
        return ended

    def named(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.ended()}


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Traced]:
    """Return a server whose spans stay in memory. The fixture's parameter has settings of the section `traces`."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(service, "OTLPSpanExporter", lambda *args, **options: exporter)
    settings = {"endpoint": "http://127.0.0.1:9/v1/traces", **getattr(request, "param", {})}
    with open_server(tmp_path, {f"traces.{name}": value for name, value in settings.items()}) as server:
        tracing = next(each for each in server.application.background if isinstance(each, service.Tracing))
        tracing.startService()
        yield Traced(server, exporter, tracing)
        tracing._queue.shutdown()


def test_a_search_has_spans_of_its_request_charge_and_engine(traced: Traced) -> None:
    response = traced.server.get(SEARCH)
    ended = traced.named()
    request = ended["GET /api/open/v1/search"]
    assert request.parent is None
    assert set(ended) == {request.name, "charge", "search", "plan", "rank"}
    parents = {span.name: span.parent and span.parent.span_id for span in ended.values()}
    assert parents["charge"] == parents["search"] == request.context.span_id
    assert parents["plan"] == parents["rank"] == ended["search"].context.span_id
    assert request.attributes == {
        "http.request.method": "GET",
        "http.route": "/api/open/v1/search",
        "http.response.status_code": 200,
        "http.response.body.size": len(response.body),
        "directory.request.id": response.headers["X-Request-Id"],
    }
    assert ended["search"].attributes == {"directory.search.hits": 0, "directory.search.strength": 0.0}


def test_spans_have_no_keys_no_queries_and_no_messages(traced: Traced) -> None:
    server = traced.server
    server.get(SEARCH)
    server.get("/api/open/v1/search?keywords=secretword&limit=-5")
    server.get(f"/api/open/v1/entries/{server.key}")
    server.get("/api/open/v1/search?keywords=secretword", key="mcpd_secretword")
    server.call("search_mcp", {"keywords": "secretword"})
    text = "".join(span.to_json() for span in traced.ended())
    for status in ("400", "401"):
        assert f'"http.response.status_code": {status}' in text
    assert "secretword" not in text
    assert server.key not in text


def test_an_error_of_a_part_leaves_only_its_kind(traced: Traced) -> None:
    server = traced.server
    for _ in range(21):
        response = server.get(SEARCH)
    assert response.status == 401
    charge = traced.named()["charge"]
    assert charge.attributes == {"error.type": "rate_limited"}
    assert not charge.events


def test_a_trace_of_a_client_goes_on(traced: Traced) -> None:
    traced.server.get(SEARCH, headers={"traceparent": TRACEPARENT, "tracestate": "a=1,b=2"})
    ended = traced.ended()
    assert {f"{span.context.trace_id:032x}" for span in ended} == {TRACE}
    [request] = [span for span in ended if span.name.startswith("GET")]
    assert request.parent is not None
    assert f"{request.parent.span_id:016x}" == PARENT
    assert request.context.trace_state.to_header() == "a=1,b=2"


@pytest.mark.parametrize(
    "fields",
    [
        {"traceparent": "x"},
        {"traceparent": f"00-{'0' * 32}-{PARENT}-01"},
        {"traceparent": f"ff-{TRACE}-{PARENT}-01"},
        {"traceparent": TRACEPARENT + "-" + "0" * 5_000},
        {"traceparent": f"{TRACEPARENT}\r\ntraceparent: {TRACEPARENT}"},
        {"tracestate": "a=1"},
    ],
)
def test_malformed_contexts_are_ignored(traced: Traced, fields: dict[str, str]) -> None:
    assert traced.server.get("/healthz", headers=fields).status == 200
    [request] = traced.ended()
    assert request.parent is None
    assert f"{request.context.trace_id:032x}" != TRACE


@pytest.mark.parametrize("state", ["a=" + "1" * 5_000, ",".join(f"k{n}=1" for n in range(40)), "=;=", "A=1"])
def test_a_malformed_state_leaves_the_trace(traced: Traced, state: str) -> None:
    traced.server.get("/healthz", headers={"traceparent": TRACEPARENT, "tracestate": state})
    [request] = traced.ended()
    assert f"{request.context.trace_id:032x}" == TRACE
    assert not request.context.trace_state


@pytest.mark.parametrize("traced", [{"sample": 0.0}], indirect=True)
def test_a_client_does_not_decide_what_is_recorded(traced: Traced) -> None:
    assert traced.server.get(SEARCH, headers={"traceparent": f"00-{'0' * 16}{'0' * 15}1-{PARENT}-01"}).status == 200
    assert traced.ended() == []


@pytest.mark.parametrize("traced", [{"sample": 0.0, "follow": True}], indirect=True)
def test_a_trusted_client_decides_what_is_recorded(traced: Traced) -> None:
    for flag in ("00", "01"):
        traced.server.get("/healthz", headers={"traceparent": f"00-{TRACE}-{PARENT}-{flag}"})
    assert [span.name for span in traced.ended()] == ["GET /healthz"]


@pytest.mark.parametrize("traced", [{"service": "catalogue"}], indirect=True)
def test_errors_and_streams_end_their_spans(traced: Traced) -> None:
    server = traced.server
    connection = server.open("GET", "/api/open/mcp", headers={"Accept": "text/event-stream"})
    connection.received()
    server.request("NONSENSE", "/healthz")
    [stream] = traced.ended()
    assert stream.name == "GET /api/open/mcp"
    assert stream.resource.attributes["service.name"] == "catalogue"
    assert "http.response.status_code" in (stream.attributes or {})
    connection.close()


def test_an_unended_request_makes_place_for_others(traced: Traced, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "MAX_OPEN", 1)
    of_server: Any = traced.server.application.server.trace
    of_server._open["lost"] = object()
    traced.server.get("/healthz")
    assert not of_server._open
    assert dropped(traced.server) == 1


def dropped(server: Server) -> Any:
    return server.application.metrics.registry.get_sample_value("directory_trace_spans_dropped_total")


def test_a_full_queue_and_a_failing_collector_are_counted(traced: Traced, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced.exporter, "export", lambda spans: SpanExportResult.FAILURE)
    traced.server.get("/healthz")
    assert traced.ended() == []
    assert dropped(traced.server) == 1
    places = cast(service.Queue, traced.tracing._queue)._places
    for _ in range(service.MAX_QUEUED):
        places.acquire(blocking=False)
    traced.server.get("/healthz")
    assert dropped(traced.server) == 2
    for _ in range(service.MAX_QUEUED):
        places.release()


@define
class FakeAgent:
    """Records the headers of requests, and returns `response`."""

    response: Deferred[Any]
    headers: list[Headers] = field(factory=list)

    def request(self, method: bytes, uri: bytes, headers: Headers, body: object) -> Deferred[Any]:
        self.headers.append(headers)
        return self.response


@frozen
class FakeRequest:
    received: dict[bytes, list[bytes]]
    method: bytes = b"GET"
    route: str = "/a/{b}"
    id: str = "1"


@frozen
class FakeResponse:
    code: int = 204


def test_an_upstream_request_gets_the_context_of_the_request_that_waits(traced: Traced) -> None:
    trace: Any = traced.server.application.web.site._routes._trace
    agent, waited = FakeAgent(succeed(FakeResponse())), Deferred[str]()
    upstream = trace("upstream", agent)
    own = Headers({"Accept": ["text/plain"]})

    async def handler(request: object) -> bytes:
        assert await waited == "result"
        await upstream.request(b"GET", b"https://up.example.org/secret?key=secretword", own, None)
        return b""

    running = trace("request", handler)(FakeRequest({b"traceparent": [TRACEPARENT.encode()]}))
    assert running.send(None) is waited
    # The reactor continues it from a context without a trace.
    waited.callback("result")
    with pytest.raises(StopIteration):
        running.send(None)
    [span] = traced.ended()
    assert (span.name, span.attributes) == (
        "GET",
        {
            "http.request.method": "GET",
            "server.address": "up.example.org",
            "server.port": 443,
            "http.response.status_code": 204,
        },
    )
    [sent] = agent.headers
    assert sent.getRawHeaders("traceparent") == [f"00-{TRACE}-{span.context.span_id:016x}-01"]
    assert sent.getRawHeaders("accept") == ["text/plain"]
    assert own.getRawHeaders("traceparent") is None


def test_a_failed_upstream_request_ends_its_span(traced: Traced) -> None:
    trace: Any = traced.server.application.web.site._routes._trace
    response: Deferred[Any] = Deferred()
    failed = trace("upstream", FakeAgent(response)).request(b"GET", b"http://up.example.org/", None, None)
    response.errback(ConnectionRefusedError("secretword"))
    assert failed.addErrback(lambda failure: failure.type).result is ConnectionRefusedError
    [span] = traced.ended()
    assert dict(span.attributes or {})["error.type"] == "ConnectionRefusedError"
    assert "secretword" not in span.to_json()


def test_off_nothing_is_wrapped(server: Server) -> None:
    site = server.application.web.site
    handler = site._exact[b"GET", b"/healthz"].handler
    assert handler.__func__.__module__ == "directory_server.web.health"
    assert server.application.search.directory._index is server.application.search.index


def test_headers_of_the_collector(tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text("Authorization: Bearer abc\n\nX-Tenant: 1\n")
    assert TracesConfig(headers_file=str(file)).headers() == {"Authorization": "Bearer abc", "X-Tenant": "1"}
    for text in ("no header", "A: b\x00c", "Ä: b", "A: " + "b" * 20_000):
        file.write_text(text)
        with pytest.raises(ConfigError, match=r"traces\.headers_file"):
            TracesConfig(headers_file=str(file)).headers()
    with pytest.raises(ConfigError, match="No such file"):
        TracesConfig(headers_file=str(tmp_path / "absent")).headers()


@pytest.mark.parametrize("values", [{"sample": 1.5}, {"sample": -1.0}, {"endpoint": "ftp://example.org"}])
def test_settings_have_limits(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        TracesConfig(**values)
