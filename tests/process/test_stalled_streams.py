"""Streams whose readers stop reading are closed and counted."""

from __future__ import annotations

import re
import socket

import pytest

from .conftest import Installation, entry_line, until
from .test_streams import CHANGES, read_until, request_stream

pytestmark = pytest.mark.process

READERS = 8


@pytest.mark.parametrize("heartbeat", [1, 60])
def test_stalled_streams_are_closed_and_counted(installation: Installation, heartbeat: int) -> None:
    key = installation.new_key()
    settings = ["streams.stall=1", f"streams.heartbeat={heartbeat}", "metrics.listen=tcp:0:interface=127.0.0.1"]
    with installation.serve(*(text for each in settings for text in ("--set", each))) as server:
        readers = []
        for _ in range(READERS):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", server.port))
            request_stream(reader, key, CHANGES)
            # Its position in the log.
            read_until(reader, b"\n\n")
            readers.append(reader)
        many = "".join(entry_line(f"a.example/{number}", "x" * 450) for number in range(400))
        installation.command("import", "-", stdin=many)

        def count(name: str) -> float:
            found = re.search(rf"^{name} (.+)$", server.metrics_text(), re.MULTILINE)
            return float(found[1]) if found else 0.0

        until(lambda: count("directory_streams") == 0, "the end of the streams")
        assert count("directory_stream_cuts_total") == READERS
        for reader in readers:
            reader.close()
