"""An HTTP server in a thread, for commands that send requests."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


@contextmanager
def http_server(handler: type[BaseHTTPRequestHandler], pem: Path | None = None) -> Iterator[int]:
    """Run a server, with TLS if `pem` has its key and certificate; yield its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        if pem is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
