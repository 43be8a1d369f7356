"""Joined records and quoted JSON: the compiled functions and those in Python return the same."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.compiled import compiled
from directory_server.serialization import _hits, _json

joining = compiled("serialization._joining", 3)
RESULTS = [_json.join_tool_result, *([joining.tool_result] if joining else [])]
FOUND = [_hits.join_found, *([joining.found] if joining else [])]
LISTED = [_hits.join_listed, *([joining.listed] if joining else [])]

# Quotes and backslashes alone, in runs, and at the borders of the blocks that are copied at once.
bodies = st.text(st.sampled_from('"\\aé高'), max_size=600).map(str.encode)
lines = st.binary(max_size=40).map(lambda text: text.replace(b"\n", b""))
records = st.tuples(lines.map(b"skipped".__add__), lines, lines).map(b"\n".join)


@pytest.mark.skipif(not joining, reason="there is no compiled module")
@given(bodies)
def test_tool_results_are_the_same(body: bytes) -> None:
    assert joining is not None
    assert joining.tool_result(body) == _json.join_tool_result(body)


@pytest.mark.parametrize("tool_result", RESULTS)
@pytest.mark.parametrize("length", [0, 1, 14, 15, 16, 17, 31, 32, 33, 254, 255, 256, 600])
def test_json_is_a_string_in_a_tool_result(tool_result: Callable[[bytes], bytes], length: int) -> None:
    for text in ("a" * length, '"' * length, "\\" * length, ("a" * 15 + '"') * length):
        body = json.dumps(text)
        result = json.loads(tool_result(body.encode()))
        assert (result["content"][0]["text"], result["structuredContent"]) == (body, text)


@pytest.mark.skipif(not joining, reason="there is no compiled module")
@given(st.lists(st.tuples(records, lines), max_size=4))
def test_joined_records_are_the_same(items: list[tuple[bytes, bytes]]) -> None:
    assert joining is not None
    given_records, endings = tuple(record for record, _ in items), tuple(ending for _, ending in items)
    assert joining.found(given_records, endings) == _hits.join_found(given_records, endings)
    assert joining.found(given_records, ()) == _hits.join_found(given_records, ())
    assert joining.listed(given_records, 7) == _hits.join_listed(given_records, 7)
    assert joining.size(given_records) == _hits.join_size(given_records)


@pytest.mark.parametrize("found", FOUND)
def test_items_of_tools_have_two_lines_and_an_ending(found: Callable[..., bytes]) -> None:
    assert found((b'"a":1\n,"b":2\nno', b'"a":3\n\n'), (b"", b',"c":4')) == (
        b'{"success":true,"data":[{"a":1,"b":2},{"a":3,"c":4}],"count":2}'
    )
    assert found((), ()) == b'{"success":true,"data":[],"count":0}'


@pytest.mark.parametrize("listed", LISTED)
def test_items_of_searches_have_the_rest_of_a_line(listed: Callable[..., bytes]) -> None:
    assert listed((b'"x":0,"a":1\n,"b":2\nno', b'"x":0,"a":3\n\n'), 6) == (b'{"data":[{"a":1},{"a":3}],"count":2}')
    assert listed((), 6) == b'{"data":[],"count":0}'


@pytest.mark.skipif(not joining, reason="there is no compiled module")
@pytest.mark.parametrize("record", [b"", b"one line", b"two\nlines", b"a\n\n"])
def test_invalid_records_are_rejected(record: bytes) -> None:
    assert joining is not None
    with pytest.raises(ValueError, match="record is invalid"):
        joining.listed((record,), 4)
    with pytest.raises(ValueError, match="one ending for each"):
        joining.found((b"a\n\n",), (b"", b""))
    with pytest.raises(TypeError):
        joining.found(("a\n\n",), ())
    for records in ([b"a"], ("a",), (b"a", None)):
        with pytest.raises(TypeError):
            joining.size(records)
    with pytest.raises(ValueError, match="negative"):
        joining.listed((b"a\n\n",), -1)
