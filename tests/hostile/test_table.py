"""Each probe, in memory and over a socket: one JSON response or a clean close, and at most one log line."""

from __future__ import annotations

import pytest

from ..process.conftest import Installation
from ..process.conftest import Server as Process
from ..web.conftest import Connection, Server
from ._contents import CONTENTS
from ._framing import FRAMING
from ._probe import Response, check_response, parse_responses
from .conftest import exchange

PROBES = [*FRAMING, *CONTENTS]

NEXT_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def is_closed(connection: Connection) -> bool:
    """Return whether the server has closed the connection, or will after the response."""
    transport = connection.transport
    return bool(transport.disconnecting or transport.disconnected)


def test_names_are_unique() -> None:
    assert len({probe.name for probe in PROBES}) == len(PROBES)


def send(server: Server, *pieces: bytes) -> tuple[list[Response], bool]:
    """Return the responses to bytes on a new connection, and whether the server closes it."""
    connection = Connection(server.site)
    for piece in pieces:
        connection.send(piece)
    received, closed = connection.received(), is_closed(connection)
    connection.close()
    return parse_responses(received), closed


def test_a_probe_gets_one_response_and_one_log_line(
    server: Server, unlimited: str, log: list[str], subtests: pytest.Subtests
) -> None:
    for probe in PROBES:
        log.clear()
        found, closed = send(server, probe.bytes(unlimited))
        with subtests.test(probe.name):
            (response,) = found
            check_response(response, probe)
            assert closed or not probe.closes
            assert len(log) <= 1, log
            assert not any(unlimited in line for line in log)


def test_a_probe_is_read_the_same_byte_by_byte(server: Server, unlimited: str, subtests: pytest.Subtests) -> None:
    for probe in PROBES:
        if len(probe.raw) < 5_000:
            found, _ = send(server, *(bytes([byte]) for byte in probe.bytes(unlimited)))
            with subtests.test(probe.name):
                (response,) = found
                check_response(response, probe)


def test_bytes_after_a_framing_error_are_ignored(server: Server, unlimited: str, subtests: pytest.Subtests) -> None:
    for probe in PROBES:
        if probe.closes:
            found, _ = send(server, probe.bytes(unlimited) + NEXT_REQUEST, NEXT_REQUEST)
            with subtests.test(probe.name):
                assert len(found) == 1


def test_a_request_after_a_complete_one_is_served(server: Server, unlimited: str, subtests: pytest.Subtests) -> None:
    for probe in PROBES:
        if not probe.closes:
            found, _ = send(server, probe.bytes(unlimited) + NEXT_REQUEST)
            with subtests.test(probe.name):
                first, second = found
                check_response(first, probe)
                assert second.status == 200


@pytest.mark.process
def test_every_probe_over_a_socket(sample_server: tuple[Installation, Process], subtests: pytest.Subtests) -> None:
    installation, server = sample_server
    key = installation.new_key("--limit", "unlimited")
    for probe in PROBES:
        with subtests.test(probe.name):
            found = exchange(server.port, probe.bytes(key), closes=probe.closes)
            (response,) = parse_responses(found.received)
            check_response(response, probe)
            assert found.closed or not probe.closes
    assert server.request("/healthz").status == 200
    log = server.stop()
    assert "Unhandled" not in log
    assert key not in log
