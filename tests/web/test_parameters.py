"""Arbitrary numbers, dates and cursors in URLs and messages never cause a server error."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from itertools import count
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from directory_server.domain.search import DEFAULT_LIMIT

from .conftest import Response, Server, entry

SEARCH, CHANGES, SERVERS = "/api/open/v1/search", "/api/open/v1/changes", "/v0.1/servers"
VERSIONS = "/v0.1/servers/io.github.example%2Fmail/versions"

EDGES = [0, 1, -1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64 - 1, 2**64, 10**400]
FLOATS = [0.5, -0.0, 1e18, 1e19, 1e308, -1e308, 5e-324]
NUMBERS = st.sampled_from([*EDGES, *FLOATS]) | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = NUMBERS | st.none() | st.booleans() | st.text(max_size=6) | st.sampled_from(["", "mail", "all", "latest"])
ODD = ["", " ", "1e3", "0x1", "+1", "-1", "1_0", "٣", "１", "NaN", "inf", "9" * 5_000]
WRITTEN = st.sampled_from(ODD) | NUMBERS.map(str)
DATES = st.sampled_from(
    ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-02-30", "0000-00-00", "1e9"]
) | st.datetimes().map(str)
PLACES = st.tuples(
    st.sampled_from(["", "mail"]),
    st.sampled_from(["all", "latest"]),
    NUMBERS | st.none(),
    st.booleans(),
    NUMBERS | st.text(max_size=3),
    st.text(max_size=5),
)

TRIES = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def cursor(*values: Any) -> str:
    return urlsafe_b64encode(json.dumps(values).encode()).rstrip(b"=").decode()


_address = count(1)


def get(server: Server, path: str) -> Response:
    """Send a request with an unlimited key from a new address."""
    number = next(_address)
    address = f"172.{16 + number // 65_536}.{number // 256 % 256}.{number % 256}"
    return server.get(path, key=unlimited(server), address=address, headers={"Accept": "application/json"})


def unlimited(server: Server) -> str:
    if not hasattr(server.hub, "secret"):
        server.hub.secret = server.new_key(limit=None)[1]
    secret: str = server.hub.secret
    return secret


def assert_no_server_error(response: Response) -> None:
    """Assert that a request succeeded, or was rejected as invalid."""
    assert response.status in (200, 400, 404, 410), response.json


def test_a_cursor_with_a_number_too_large_for_sqlite_is_rejected(server: Server) -> None:
    for number in (2**53 + 2, 2**63, 10**30, 1e300):
        for place in (["", "all", number, False, "a", "b"], ["mail", "all", None, False, number, "b"]):
            response = get(server, f"{SERVERS}?cursor={cursor(*place)}")
            assert (response.status, "cursor: is invalid" in response.json["detail"]) == (400, True)
        assert get(server, f"{SEARCH}?keywords=mail&cursor={cursor('mail', number, 'a')}").status == 400


@TRIES
@given(PLACES | st.lists(VALUES, max_size=7))
def test_any_cursor_of_the_registry(server: Server, values: Any) -> None:
    for path in (SERVERS, VERSIONS):
        assert_no_server_error(get(server, f"{path}?cursor={cursor(*values)}"))


@TRIES
@given(st.lists(VALUES, max_size=4) | st.tuples(st.just("mail"), NUMBERS, st.text(max_size=5)))
def test_any_cursor_of_a_search(server: Server, values: Any) -> None:
    assert_no_server_error(get(server, f"{SEARCH}?keywords=mail&cursor={cursor(*values)}"))
    assert get(server, f"/?q=mail&cursor={cursor(*values)}").status in (200, 400)


@TRIES
@given(st.text(st.characters(codec="ascii")) | st.binary().map(lambda raw: urlsafe_b64encode(raw).decode()))
def test_any_text_for_a_cursor(server: Server, text: str) -> None:
    for path in (f"{SEARCH}?keywords=mail&", f"{SERVERS}?", f"{VERSIONS}?"):
        assert_no_server_error(get(server, f"{path}cursor={quote(text)}"))


@TRIES
@given(WRITTEN)
def test_any_text_for_a_number(server: Server, text: str) -> None:
    value = quote(text)
    for path in (
        f"{SEARCH}?keywords=mail&limit={value}",
        f"{CHANGES}?limit={value}",
        f"{CHANGES}?since={value}",
        f"{SERVERS}?limit={value}",
        f"{VERSIONS}?limit={value}",
    ):
        assert_no_server_error(get(server, path))


@TRIES
@given(DATES | WRITTEN)
def test_any_text_for_a_date(server: Server, text: str) -> None:
    for more in ("", "&search=mail", "&version=latest"):
        assert_no_server_error(get(server, f"{SERVERS}?updated_since={quote(text)}{more}"))


@pytest.mark.parametrize("last", ["9" * 18, "9" * 19, "-1", "1.5", "٣".encode().decode("latin-1")])
def test_any_last_event_id(server: Server, last: str) -> None:
    for accept in ("text/event-stream", "application/json"):
        headers = {"Accept": accept, "Last-Event-ID": last}
        connection = server.open("GET", CHANGES, headers=headers)
        assert connection.received().split()[1] in (b"200", b"400", b"410")
        connection.close()


def test_returned_cursors_are_accepted(server: Server) -> None:
    long = "é" * 190
    server.publish(*(entry(f"{long}/{number}", "Quartz.") for number in range(DEFAULT_LIMIT)))
    words = "quartz " + "x" * 240
    for path in (f"{SERVERS}?limit=2", f"{SERVERS}?limit=2&search=quartz&updated_since=2026-01-01T00:00:00Z"):
        found = get(server, path).json["metadata"]["nextCursor"]
        assert get(server, f"{SERVERS}?cursor={found}").status == 200
    link = get(server, f"{SEARCH}?keywords={quote(words)}&limit=1").headers["Link"]
    assert get(server, link.partition("<")[2].partition(">")[0]).status == 200
