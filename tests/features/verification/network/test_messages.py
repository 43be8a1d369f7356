"""Messages, tools and server-sent events of hostile servers are bounded and cleaned."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.domain.tools import MAX_NAME
from directory_server.features.verification.network._event_stream import MAX_EVENT, MAX_LINES, Event, EventParser
from directory_server.features.verification.network._messages import (
    MAX_DESCRIPTION,
    RpcError,
    ToolsPage,
    response_to,
    result_of,
    tools_page,
)
from directory_server.features.verification.results import MAX_SCHEMA
from directory_server.http_client import BadResponse


def response(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (response(id=7, result={"a": 1}), {"a": 1}),
        (b"[" + response(method="notifications/x") + b"," + response(id=7, result={"a": 1}) + b"]", {"a": 1}),
        (response(id=8, result={}), None),
        (response(id="7", result={}), None),
        (response(id=None, result={}), None),
        (response(id=7, method="ping"), None),
        (response(id=7), None),
        (b'{"id": 7, "result": {}}', None),
        (b'"text"', None),
        (b"[[], null, 7]", None),
    ],
)
def test_the_response_to_a_request_is_found(body: bytes, found: Any) -> None:
    read = response_to(7, body)
    assert (read and result_of(read)) == found


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'{"a":1,"a":2}', b"[" * 100 + b"]" * 100, b"[" + b"1," * 100_001 + b"1]"]
)
def test_what_is_no_message_is_rejected(body: bytes) -> None:
    with pytest.raises(BadResponse):
        response_to(1, body)


@pytest.mark.parametrize("identifier", [1, None])
def test_an_error_is_raised_cleaned(identifier: int | None) -> None:
    read = response_to(1, response(id=identifier, error={"code": -32600, "message": "a\x1b[31mb\u202ec\n" + "x" * 500}))
    assert read is not None
    with pytest.raises(RpcError) as caught:
        result_of(read)
    assert caught.value.code == -32600
    assert caught.value.message.startswith("a\ufffd[31mbc x")
    assert len(caught.value.message) == 200


def tool(**members: Any) -> dict[str, Any]:
    return {"name": "a", "description": "b", "inputSchema": {"type": "object"}, **members}


def test_tools_are_cleaned_and_bounded() -> None:
    (found,) = tools_page(
        {"tools": [tool(name="a\n\x00" + "n" * 500, description="d\u200b\x07" + "x" * 9_000)]}, 9
    ).tools
    assert (len(found.name), len(found.description)) == (MAX_NAME, MAX_DESCRIPTION)
    assert found.name.startswith("a \ufffdn")
    assert found.description.startswith("d\ufffdx")


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"title": "\u202ehidden\x1b"}, '{"title":"hidden\ufffd"}'),
        ({"x": "y" * MAX_SCHEMA}, ""),
        ({str(number): {} for number in range(5_000)}, ""),
        (None, ""),
        ([], ""),
        ("text", ""),
    ],
)
def test_a_schema_is_cleaned_or_dropped(schema: Any, kept: str) -> None:
    assert [each.input_schema for each in tools_page({"tools": [tool(inputSchema=schema)]}, 9).tools] == [kept]


def test_tools_without_a_name_are_skipped() -> None:
    wrong = [None, 7, "a", {}, tool(name=""), tool(name=None), tool(name="\u200b"), tool(name=["a"])]
    assert tools_page({"tools": [*wrong, {"name": "b", "description": 7}]}, 9).tools[0].name == "b"
    assert len(tools_page({"tools": [*wrong, tool()]}, 9).tools) == 1


@pytest.mark.parametrize("cursor", [None, 7, {}, "", "c" * 5_000])
def test_a_cursor_that_is_none_ends_the_list(cursor: Any) -> None:
    assert tools_page({"tools": [], "nextCursor": cursor}, 9) == ToolsPage((), "")


@pytest.mark.parametrize("described", [-3, 0, 2, 9])
def test_only_the_first_tools_have_texts(described: int) -> None:
    page = tools_page({"tools": [tool(name=str(number)) for number in range(5)]}, described)
    assert [each.name for each in page.tools] == list("01234")
    assert sum(bool(each.description and each.input_schema) for each in page.tools) == min(max(described, 0), 5)
    assert sum(bool(each.description or each.input_schema) for each in page.tools) == min(max(described, 0), 5)


@pytest.mark.parametrize("result", [{}, {"tools": {}}, {"tools": None}])
def test_a_result_without_a_list_is_rejected(result: dict[str, Any]) -> None:
    with pytest.raises(BadResponse):
        tools_page(result, 9)


def test_the_title_hints_and_parameters_of_a_tool_are_kept() -> None:
    schema = {"properties": {"path": {"type": "string"}, "head": {"type": "number"}}, "required": ["path"]}
    given = {"title": "Read\u202e", "readOnlyHint": True, "destructiveHint": "no", "x": True}
    (found,) = tools_page({"tools": [{"name": "read", "inputSchema": schema, "annotations": given}]}, 9).tools
    assert (found.title, found.hints, found.takes) == ("Read", {"readOnlyHint": True}, "path: string, head?: number")


STREAM = (
    b": comment\r\n\r\nevent: endpoint\r\ndata: /messages\r\n\r\ndata:one\ndata:  two\n\n"
    b"event: ping\n\nid: 7\rdata\rdata: end\r\rdata: never finished"
)
EVENTS = [Event("endpoint", b"/messages"), Event("message", b"one\n two"), Event("message", b"\nend")]


@given(st.lists(st.integers(0, len(STREAM))))
def test_events_do_not_depend_on_the_chunks(cuts: list[int]) -> None:
    parser, found, start = EventParser(), list[Event](), 0
    for end in [*sorted(cuts), len(STREAM)]:
        found.extend(parser.feed(STREAM[start:end]))
        start = end
    assert found == EVENTS


@pytest.mark.parametrize(
    ("chunk", "limit"),
    [(b"data: " + b"x" * 1_000, MAX_EVENT), (b": " + b"x" * 1_000 + b"\n", MAX_EVENT), (b"\n", MAX_LINES)],
    ids=["one line", "comments", "empty lines"],
)
def test_an_endless_event_ends_the_stream(chunk: bytes, limit: int) -> None:
    parser = EventParser()
    with pytest.raises(BadResponse):
        [list(parser.feed(chunk)) for _ in range(limit // len(chunk) + 1)]
