"""Traces of a server process, received over OTLP/HTTP."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from attrs import field, frozen
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from .conftest import SEARCH, Installation

pytestmark = pytest.mark.process


@frozen
class Collector:
    """A collector of traces: what it has received, and when it responds."""

    received: list[tuple[str, str, bytes]] = field(factory=list)
    responds: Event = field(factory=Event)
    asked: Event = field(factory=Event)

    @contextmanager
    def listening(self) -> Iterator[str]:
        """Listen on a free port; yield the URL."""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.received.append((self.path, self.headers["X-Tenant"], body))
                collector.asked.set()
                collector.responds.wait()
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *values: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/traces"
        self.responds.set()
        server.shutdown()
        server.server_close()


def test_a_collector_receives_the_last_spans_at_the_stop(installation: Installation) -> None:
    collector = Collector()
    collector.responds.set()
    key = installation.new_key()
    headers = installation.folder / "headers"
    headers.write_text("X-Tenant: acme\n")
    with collector.listening() as url:
        options = "--set", f"traces.endpoint={url}", "--set", f"traces.headers_file={headers}"
        with installation.serve(*options) as server:
            server.search("postgres", key)
            server.stop()
    names: list[str] = []
    for path, tenant, body in collector.received:
        assert (path, tenant) == ("/v1/traces", "acme")
        assert key.encode() not in body
        message = ExportTraceServiceRequest.FromString(body if body[:2] != b"\x1f\x8b" else gzip.decompress(body))
        for resource in message.resource_spans:
            assert ("service.name", "directory-server") in [
                (attribute.key, attribute.value.string_value) for attribute in resource.resource.attributes
            ]
            names += [span.name for scope in resource.scope_spans for span in scope.spans]
    assert {f"GET {SEARCH}", "charge", "search", "plan", "rank"} <= set(names)


def test_a_collector_that_does_not_respond_does_not_hold_the_server(installation: Installation) -> None:
    collector = Collector()
    with collector.listening() as url:
        with installation.serve("--set", f"traces.endpoint={url}") as server:
            server.request("/healthz")
            collector.asked.wait()
            server.request("/healthz")
            # The collector responds only after the end of the server.
            server.stop()
        assert not collector.responds.is_set()


def test_without_traces_nothing_of_them_is_imported() -> None:
    code = (
        "import sys; from directory_server.composition import build; from directory_server.features import FEATURES; "
        "[feature.part(feature.run) for feature in FEATURES if feature.name != 'traces']; "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
