"""JSON: strict decoding, duplicate members, depth."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.domain.errors import BadInput
from directory_server.domain.views import Hit
from directory_server.serialization._json import structure

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_round_trip(value: Any) -> None:
    assert serialization.decode(serialization.encode(value)) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_bad_input(body: bytes) -> None:
    try:
        value = serialization.decode(body)
    except BadInput:
        return
    assert value == json.loads(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"NaN", "not JSON"),
        (b"[Infinity]", "not JSON"),
        (b'"\xff"', "not JSON"),
        (b'"\\ud800"', "not JSON"),
        (b"\xff\xfe1\x00", "not JSON"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "'c' twice"),
        (b'{"a": 1, "\\u0061": 2}', "'a' twice"),
        (b"[" * 65 + b"]" * 65, "deeper than 64"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "deeper than 64"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_invalid_json_is_rejected(body: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        serialization.decode(body)
    assert caught.value.code == "parse_error"


def test_messages_repeat_few_names_of_members_and_shorten_them() -> None:
    with pytest.raises(BadInput) as many:
        serialization.detail_arguments({"mcp_id": "a"} | {f"k{number}": 1 for number in range(4_000)})
    assert many.value.message == (
        "arguments: unknown member 'k0', 'k1', 'k10', 'k100', 'k1000' and 3,995 more; allowed: mcp_id, editor, fields."
    )
    with pytest.raises(BadInput) as long:
        serialization.detail_arguments({"mcp_id": "a", "k" * 60_000: 1})
    assert long.value.message == f"arguments: unknown member '{'k' * 100}'; allowed: mcp_id, editor, fields."
    with pytest.raises(BadInput, match="twice") as twice:
        serialization.decode(b'{"%b": 1, "%b": 2}' % (b"k" * 60_000, b"k" * 60_000))
    assert len(twice.value.message) < 200


@frozen
class Choices:
    match: Literal["entries", "tools"] = "entries"


def test_choices_are_named_and_the_wrong_value_is_not_repeated() -> None:
    assert structure({"match": "tools"}, Choices, what="arguments").match == "tools"
    values: list[object] = ["x" * 60_000, ["tools"], {}]
    for value in values:
        with pytest.raises(BadInput) as caught:
            structure({"match": value}, Choices, what="arguments")
        assert caught.value.message == "arguments.match: must be entries or tools."


NAMES = st.sampled_from(["a", "b", ":", '":', "é"])
MEMBERS = st.recursive(st.none() | NAMES, lambda inner: st.lists(st.tuples(NAMES, inner), max_size=4), max_leaves=12)
"""Objects as lists of members, possibly with duplicate names."""


def encode_members(value: Any, escape: bool) -> str:
    if isinstance(value, list):
        members = [f"{encode_members(name, escape)} :{encode_members(inner, escape)}" for name, inner in value]
        return "{" + ",".join(members) + "}"
    text = json.dumps(value, ensure_ascii=escape)
    return text.replace(":", "\\u003a") if escape else text


def has_duplicates(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    names = [name for name, _ in value]
    return len(set(names)) < len(names) or any(has_duplicates(inner) for _, inner in value)


@given(MEMBERS, st.booleans())
def test_duplicate_members_are_detected_at_any_depth(value: Any, escape: bool) -> None:
    body = encode_members(value, escape).encode()
    if has_duplicates(value):
        with pytest.raises(BadInput, match="twice"):
            serialization.decode(body)
    else:
        assert serialization.decode(body) == json.loads(body)


def test_64_levels_are_allowed() -> None:
    assert serialization.decode(b"[" * 64 + b"]" * 64)


def test_attrs_instances_are_encoded_as_objects() -> None:
    assert json.loads(serialization.text([Hit("1", "a", "b", "c")])) == [
        {
            **{"mcp_id": "1", "name": "a", "brief": "b", "website_url": "c", "server_name": ""},
            **{"auth": "unknown", "runs": [], "verified": "unverified", "status": "active", "status_message": ""},
            **{"summary": "b", "vendor": False, "installable": False, "stars": None, "updated": ""},
            **{"flags": [], "publisher": "unknown", "retired": False, "tool_hints": [], "ends": None},
        }
    ]


def test_other_types_are_not_encoded() -> None:
    with pytest.raises(TypeError):
        serialization.encode(object())


@given(VALUES)
def test_a_document_is_the_text_of_a_tool_result(value: Any) -> None:
    body = serialization.encode(value)
    result = json.loads(serialization.tool_result(body))
    content = [{"type": "text", "text": body.decode()}]
    assert result == {"content": content, "structuredContent": json.loads(body), "isError": False}
