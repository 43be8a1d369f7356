"""Checks of strict JSON: the compiled check accepts no document that the check in Python rejects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server.compiled import compiled
from directory_server.domain.errors import BadInput
from directory_server.serialization import _json

strict = compiled("serialization._strict")
needs_compiled = pytest.mark.skipif(not strict, reason="there is no compiled module")

NAMES = st.sampled_from(["a", "b", "ab", "", "é", ":", "{", "a b", "\\", '"'])
SPACES = st.sampled_from(["", " ", "\n\t\r "])


def objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return encoded objects whose members may have the same name."""
    quoted = NAMES.map(lambda name: json.dumps(name, ensure_ascii=False))
    members = st.tuples(SPACES, quoted, SPACES, values).map("{0[0]}{0[1]}{0[2]}:{0[2]}{0[3]}{0[0]}".format)
    return st.lists(members, max_size=3).map(lambda each: "{" + ",".join(each) + "}")


def arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return encoded arrays."""
    return st.lists(values, max_size=3).map(lambda each: "[" + ",".join(each) + "]")


scalars = st.one_of(st.sampled_from(["1", "null"]), NAMES.map(json.dumps))
documents = st.recursive(scalars, lambda values: objects(values) | arrays(values), max_leaves=12)


def is_strict(body: bytes) -> bool:
    """Return whether the check in Python accepts a document."""
    value: Any = json.loads(body)
    try:
        _json.check_strict(body, value, "The body")
    except BadInput:
        return False
    return True


@needs_compiled
@given(documents)
def test_plain_documents_are_strict(document: str) -> None:
    assert strict is not None
    body = document.encode()
    assert is_strict(body) or not strict.is_plain(body)
    # Only an escape sequence makes a document unknown at this size.
    assert strict.is_plain(body) == (is_strict(body) and "\\" not in document)


@needs_compiled
@given(st.binary(max_size=40) | st.text(st.sampled_from('{}[]":,\\ a'), max_size=40).map(str.encode))
def test_any_bytes_are_plain_or_not(body: bytes) -> None:
    assert strict is not None
    assert strict.is_plain(body) in (True, False)


@needs_compiled
@pytest.mark.parametrize(
    ("document", "plain"),
    [
        ("[" * 16 + "]" * 16, True),
        ("[" * 17 + "]" * 17, False),
        (json.dumps({str(number): number for number in range(64)}), True),
        (json.dumps({str(number): number for number in range(65)}), False),
        (json.dumps([{"a": 1}] * 200), True),
        ('{"a":1,"b":{"a":1},"a":1}', False),
        ('{"a":"b","b":"a"}', True),
        (r'{"a":"\n"}', False),
        ('{"a":1}}', False),
        ('"a', False),
    ],
)
def test_bounds_of_plain_documents(document: str, plain: bool) -> None:
    assert strict is not None
    assert strict.is_plain(document.encode()) is plain


@needs_compiled
def test_only_bytes_are_checked() -> None:
    assert strict is not None
    with pytest.raises(TypeError):
        strict.is_plain("{}")


@pytest.mark.parametrize("has_module", [True, False])
def test_both_reject_duplicate_members(has_module: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_module:
        monkeypatch.setattr(_json, "_strict", None)
    assert _json.decode(b'{"a":{"a":1}}') == {"a": {"a": 1}}
    with pytest.raises(BadInput, match="twice"):
        _json.decode(b'{"a":1,"a":1}')
    with pytest.raises(BadInput, match="nested deeper"):
        _json.decode(b"[" * 70 + b"]" * 70)
