"""Each kind of remote has its outcome."""

from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred

from directory_server.domain.checks import MAX_TOOLS, LoginKind, RemoteStatus
from tests.features.verification.remotes.fake_remotes import OAUTH_SERVER
from tests.features.verification.remotes.outcomes import OUTCOMES, RARE

from ....contract import awaited
from .conftest import NOW, Harness

SILENT = {"silent", "silent-discover"}


@pytest.mark.parametrize(("kind", "status"), [each for each in {**OUTCOMES, **RARE}.items() if each[0] not in SILENT])
@awaited
async def test_a_remote_has_the_outcome_of_its_kind(harness: Harness, kind: str, status: str) -> None:
    check = await harness.check(kind, "sse" if kind.startswith("sse") else "streamable-http")
    assert (check.status, check.checked_at) == (status, NOW), check.detail
    assert (check.login is not None) == (check.status is RemoteStatus.NEEDS_LOGIN)
    assert (check.latency is not None) == (bool(check.protocol_version))
    assert set(harness.remotes.called) <= {
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/list",
    }


@awaited
async def test_a_stateless_server_is_asked_twice(harness: Harness) -> None:
    check = await harness.check("modern")
    assert (check.protocol_version, check.server_name, check.server_version) == ("2026-07-28", "fake modern", "1.2.3")
    assert [each.name for each in check.tools] == ["weather_0", "weather_1"]
    assert check.tools[0].description == "Forecast 0 of a city."
    assert check.tools[0].input_schema.startswith('{"type":"object","properties":')
    assert not check.has_more_tools
    assert harness.remotes.called == ["server/discover", "tools/list"]


@pytest.mark.parametrize("kind", ["stateful", "stateful-events"])
@awaited
async def test_a_session_of_an_older_server_is_ended(harness: Harness, kind: str) -> None:
    check = await harness.check(kind)
    assert (check.protocol_version, len(check.tools)) == ("2025-06-18", 2)
    assert harness.remotes.called == ["server/discover", "initialize", "notifications/initialized", "tools/list"]
    method, _, headers = harness.remotes.requests[-1]
    assert (method, headers["mcp-session-id"], headers["mcp-protocol-version"]) == ("DELETE", "session-1", "2025-06-18")
    assert headers["user-agent"].endswith(" (verification; +ops@acme.example)")


@pytest.mark.parametrize(
    ("kind", "headers_needed", "login", "server"),
    [
        ("login-key", False, LoginKind.KEY, ""),
        ("login-oauth", True, LoginKind.OAUTH, OAUTH_SERVER),
        ("login-well-known", False, LoginKind.OAUTH, OAUTH_SERVER),
        ("login-bare", False, LoginKind.UNKNOWN, ""),
        ("login-forbidden", False, LoginKind.UNKNOWN, ""),
        ("login-forbidden", True, LoginKind.KEY, ""),
        ("payment", False, LoginKind.PAYMENT, ""),
        ("payment", True, LoginKind.PAYMENT, ""),
        ("login-bare", True, LoginKind.KEY, ""),
        ("rejecting", True, LoginKind.KEY, ""),
    ],
)
@awaited
async def test_the_kind_of_login_is_found(
    harness: Harness, kind: str, headers_needed: bool, login: LoginKind, server: str
) -> None:
    check = await harness.check(kind, headers_needed=headers_needed)
    assert check.status is RemoteStatus.NEEDS_LOGIN
    assert (check.login, check.authorization_server) == (login, server)


@awaited
async def test_a_redirect_to_another_host_is_reported_and_not_followed(harness: Harness) -> None:
    assert (await harness.check("redirect-away")).redirected_to == "https://elsewhere.example/mcp"


@awaited
async def test_a_busy_remote_says_when_it_may_be_checked_again(harness: Harness) -> None:
    check = await harness.check("busy")
    assert (check.status, check.retry_after) == (RemoteStatus.BUSY, 7_200.0)
    assert check.detail == "It answered 429, too many requests."
    # Robots and one request: a busy server is not asked again.
    assert harness.paths("/robots.txt") == ["POST /busy"]


@awaited
async def test_a_cut_answer_is_named(harness: Harness) -> None:
    assert (await harness.check("cut")).detail == "It closed the connection before the end of its answer."
    assert (await harness.check("closing")).detail == "It closed the connection without a complete answer."


@pytest.mark.parametrize(
    ("kind", "declared", "other", "requests"),
    [
        ("old-transport", "streamable-http", "sse", ["POST", "POST", "GET", "POST", "POST", "POST"]),
        ("sse-not", "sse", "streamable-http", ["GET", "POST", "POST", "POST", "DELETE"]),
        ("sse-not-silent", "sse", "streamable-http", ["GET", "POST", "POST", "POST", "DELETE"]),
    ],
)
@awaited
async def test_a_remote_works_with_the_other_transport(
    harness: Harness, kind: str, declared: str, other: str, requests: list[str]
) -> None:
    check = await harness.check(kind, declared)
    assert (check.status, check.transport, check.other_transport) == (RemoteStatus.WORKS, declared, other)
    assert check.detail == f"It is declared as {declared} and works with {other}."
    assert len(check.tools) == 2
    assert [method for method, path, _ in harness.remotes.requests if path != "/robots.txt"] == requests


@awaited
async def test_a_stream_without_an_endpoint_is_asked_with_initialize(harness: Harness) -> None:
    checking = Deferred.fromCoroutine(harness.check("sse-not-mute", "sse"))
    await harness.requested("/sse-not-mute", 1)
    harness.clock.advance(15)
    check = await checking
    assert (check.status, check.other_transport, len(check.tools)) == (RemoteStatus.WORKS, "streamable-http", 2)


@pytest.mark.parametrize(
    ("kind", "declared", "detail"),
    [
        ("not-found", "streamable-http", "It answered 404."),
        ("not-found", "sse", "It answered 404 without a stream of events."),
        ("sse-elsewhere", "streamable-http", "It answered 405."),
    ],
)
@awaited
async def test_the_outcome_of_the_declared_transport_is_kept(
    harness: Harness, kind: str, declared: str, detail: str
) -> None:
    check = await harness.check(kind, declared)
    assert (check.status, check.detail, check.other_transport) == (RemoteStatus.NOT_MCP, detail, "")
    assert len(harness.paths("/robots.txt")) <= 3


@awaited
async def test_the_other_transport_may_need_a_login(harness: Harness) -> None:
    check = await harness.check("old-transport-login")
    assert (check.status, check.login) == (RemoteStatus.NEEDS_LOGIN, LoginKind.KEY)


@awaited
async def test_lists_of_tools_are_bounded(harness: Harness) -> None:
    assert [each.name for each in (await harness.check("paged")).tools] == [f"weather_{n}" for n in range(9)]
    gigantic = await harness.check("gigantic")
    assert (len(gigantic.tools), gigantic.tool_count, gigantic.has_more_tools) == (1_000, 1_000, False)
    assert sum(bool(each.description) for each in gigantic.tools) == MAX_TOOLS
    harness.remotes.called.clear()
    endless = await harness.check("endless-pages")
    assert (len(endless.tools), endless.tool_count, endless.has_more_tools) == (40, 40, True)
    assert harness.remotes.called.count("tools/list") == 20


@awaited
async def test_changes_are_found_by_the_next_check(harness: Harness) -> None:
    assert [len((await harness.check("changing")).tools) for _ in range(3)] == [1, 2, 3]


@awaited
async def test_a_silent_remote_ends_with_the_timeout(harness: Harness) -> None:
    checking = Deferred.fromCoroutine(harness.check("silent"))
    await harness.requested("/silent", 1)
    harness.clock.advance(10)
    await harness.requested("/silent", 2)
    harness.clock.advance(20)
    check = await checking
    assert (check.status, check.detail) == (RemoteStatus.UNREACHABLE, "It did not answer within 30 seconds.")


@awaited
async def test_an_older_server_that_never_answers_discover_works(harness: Harness) -> None:
    checking = Deferred.fromCoroutine(harness.check("silent-discover"))
    await harness.requested("/silent-discover", 1)
    harness.clock.advance(10)
    check = await checking
    assert (check.status, len(check.tools), check.latency) == (RemoteStatus.WORKS, 2, 0.0)


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("https://{host}/mcp", RemoteStatus.NOT_CHECKABLE),
        ("https://user:key@a.example/", RemoteStatus.NOT_CHECKABLE),
        ("https://a.example/" + "x" * 2_000, RemoteStatus.NOT_CHECKABLE),
        ("https://a.example:0x/", RemoteStatus.NOT_CHECKABLE),
        ("gopher://127.0.0.1:8080/mcp", RemoteStatus.NOT_CHECKABLE),
        ("http://127.0.0.1:0/mcp", RemoteStatus.NOT_ALLOWED),
        ("https://a.example:6667/", RemoteStatus.NOT_ALLOWED),
    ],
)
@awaited
async def test_urls_that_are_not_requested(harness: Harness, url: str, status: RemoteStatus) -> None:
    assert (await harness.prober.check(url, "streamable-http", False)).status is status


@awaited
async def test_a_transport_without_http_is_not_checkable(harness: Harness) -> None:
    assert (await harness.check("modern", "stdio")).status is RemoteStatus.NOT_CHECKABLE
    assert harness.remotes.requests == []
