"""Sessions with servers whose replies no fake remote sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import define, field

from directory_server.domain.checks import RemoteStatus
from directory_server.features.verification.network._ending import Ended, OtherTransport
from directory_server.features.verification.network._session import LoginNeeded, Opened, Session
from directory_server.features.verification.network._transports import Reply
from directory_server.http_client import BadResponse
from directory_server.runtime.run_sync import inline, run_sync
from directory_server.serialization import decode

INITIALIZED = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "a"}, "capabilities": {"tools": {}}}


def result(value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": value}


def error(code: int, message: str = "No.", **data: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message, "data": data}}


@define
class Scripted:
    """A transport that returns `replies` in order, and records the methods of the messages."""

    replies: list[Reply]
    sent: list[str] = field(factory=list)
    ended: Exception | None = None

    async def send(self, number: int | None, body: bytes, headers: Mapping[str, str]) -> Reply:
        self.sent.append(decode(body)["method"])
        return Reply(202, None) if number is None else self.replies.pop(0)

    async def end(self, headers: Mapping[str, str]) -> None:
        if self.ended is not None:
            raise self.ended

    def close(self) -> None:
        raise AssertionError("the prober closes the transport")


def session(*replies: Reply, headers_needed: bool = False) -> tuple[Session, list[bool]]:
    """Return a session with a server that sends `replies`, and a list with an item once it has answered."""
    answered: list[bool] = []
    return Session(Scripted(list(replies)), inline, headers_needed, lambda: answered.append(True)), answered


@pytest.mark.parametrize(
    ("message", "opened"),
    [
        (result([]), None),
        (result({"supportedVersions": "2026-07-28"}), None),
        (result({"supportedVersions": ["2025-11-25"]}), None),
        (error(-32601), None),
        (error(-32022, supported=["2025-06-18"]), None),
        (error(-32022, supported=["2099-01-01"]), Opened("2099-01-01", "", "", False)),
        (result({"supportedVersions": ["2026-07-28"], "_meta": []}), Opened("2026-07-28", "", "", False)),
    ],
)
def test_an_answer_to_discover_opens_a_session_or_asks_for_initialize(message: Any, opened: Opened | None) -> None:
    found, answered = session(Reply(200, message))
    assert run_sync(found.discover()) == opened
    assert bool(answered) == (opened is not None)


@pytest.mark.parametrize("code", [401, 402, 403])
def test_discover_and_tools_report_a_login(code: int) -> None:
    reply = Reply(code, None, challenge="Bearer")
    for ask in (session(reply)[0].discover, session(reply)[0].tools):
        with pytest.raises(LoginNeeded) as caught:
            run_sync(ask())
        assert caught.value.reply == reply


@pytest.mark.parametrize(
    ("reply", "status", "detail"),
    [
        (Reply(502, None), RemoteStatus.UNREACHABLE, "It answered 502."),
        (Reply(204, None), RemoteStatus.NOT_MCP, "It answered 204 without a message of MCP."),
        (Reply(404, None), RemoteStatus.NOT_MCP, "It answered 404."),
        (Reply(200, error(-1, "Go\naway.")), RemoteStatus.NOT_MCP, "It rejected initialize: Go away."),
        (Reply(200, error(-7, "")), RemoteStatus.NOT_MCP, "It rejected initialize: -7"),
        (
            Reply(200, result({"protocolVersion": "x\r\nSet-Cookie: a"})),
            RemoteStatus.NOT_MCP,
            "Its answer to initialize has no version of the protocol.",
        ),
    ],
)
def test_a_server_that_does_not_answer_initialize_has_a_reason(reply: Reply, status: RemoteStatus, detail: str) -> None:
    asked, answered = session(reply)
    with pytest.raises(Ended) as caught:
        run_sync(asked.initialize())
    assert (caught.value.status, caught.value.detail, answered) == (status, detail, [])


def test_a_403_without_a_challenge_is_no_answer_to_discover() -> None:
    # A server of an older version may reject the method so; initialize decides.
    assert run_sync(session(Reply(403, None))[0].discover()) is None


@pytest.mark.parametrize(("code", "other"), [(400, True), (404, True), (405, True), (406, False), (410, False)])
def test_a_rejected_post_may_mean_the_other_transport(code: int, other: bool) -> None:
    with pytest.raises(Ended) as caught:
        run_sync(session(Reply(code, None))[0].initialize())
    assert isinstance(caught.value, OtherTransport) == other


@pytest.mark.parametrize(
    "reply", [Reply(401, None), Reply(403, None), Reply(400, None), Reply(422, None), Reply(200, error(-1))]
)
def test_a_server_that_needs_headers_wants_a_login(reply: Reply) -> None:
    with pytest.raises(LoginNeeded):
        run_sync(session(reply, headers_needed=True)[0].initialize())


def test_a_server_without_a_list_of_tools_has_answered() -> None:
    asked, answered = session(Reply(200, result(INITIALIZED)), Reply(500, None))
    assert run_sync(asked.initialize()) == Opened("2025-06-18", "a", "", True)
    with pytest.raises(BadResponse, match="It answered 500 without a list of tools"):
        run_sync(asked.tools())
    assert answered == [True]


@pytest.mark.parametrize("reason", [Ended(RemoteStatus.NOT_MCP, "No."), OSError(104, "reset"), BadResponse("No.")])
def test_errors_at_the_end_of_a_session_are_ignored(reason: Exception) -> None:
    run_sync(Session(Scripted([], ended=reason), inline, False, lambda: None).end())
