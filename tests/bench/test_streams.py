"""`bench.streams` opens streams of a server, and sees what it sends."""

from __future__ import annotations

import pytest

from bench.clients.stream_clients import stream_clients
from bench.servers.stream_server import directory_streams


@pytest.mark.process
def test_every_client_opens_a_stream_and_gets_an_event() -> None:
    with directory_streams(10) as server, stream_clients(server.stream_request) as readers:
        assert readers("open", 10, 10)["errors"] == 0
        readers.start("await_all", b"token")
        server.publish(b"data: token\n\n")
        assert readers.result()["missing"] == 0
        assert server.failures() == 0
