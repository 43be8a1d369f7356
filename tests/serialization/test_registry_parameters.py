"""Parameters and cursors of the registry API."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from directory_server import serialization
from directory_server.domain.errors import BadInput
from directory_server.serialization import RegistryQuery
from directory_server.serialization._cursors import encode_array


def parameters(**values: str) -> RegistryQuery:
    return serialization.registry_parameters(urlencode(values).encode())


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (b"search=%ff", "not UTF-8"),
        (b"\xff", "not UTF-8"),
        (b"&".join([b"a=b"] * 21), "more than 20 parameters"),
        (b"version=1%00", "version: must not contain NUL"),
        (b"limit=%D9%A3", "limit: must be"),
    ],
)
def test_invalid_parameters_are_named(query: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        serialization.registry_parameters(query)


@pytest.mark.parametrize(
    ("query", "after"),
    [
        (RegistryQuery("mail", "latest", 5.5, True), (2.5, "io.example/mail")),
        (RegistryQuery(), ("io.example/mail", "1.0.0")),
    ],
)
def test_a_cursor_continues_its_query(query: RegistryQuery, after: tuple[Any, str]) -> None:
    found = parameters(cursor=serialization.encode_registry_cursor(query, after), limit="7", search="other")
    assert (found.search, found.version, found.updated_since) == (query.search, query.version, query.updated_since)
    assert (found.include_deleted, found.limit, found.after) == (query.include_deleted, 7, after)


@pytest.mark.parametrize(
    "values",
    [
        ["mail", "all", None, False, "a", "b"],
        ["", "all", None, False, 1.5, "b"],
        ["a" * 257, "all", None, False, 1.5, "b"],
        ["", "all", None, 0, "a", "b"],
        ["", "all", "1", False, "a", "b"],
        ["", "all", None, False, "a"],
        ["", "a\0", None, False, "a", "b"],
        ["", "all", None, False, "a\0", "b"],
        ["", "all", None, False, "a", "\0"],
        ["", "all", 2**53 + 2, False, "a", "b"],
        ["mail", "all", None, False, -1e300, "b"],
    ],
)
def test_a_changed_cursor_is_rejected(values: list[Any]) -> None:
    with pytest.raises(BadInput, match="cursor: is invalid"):
        parameters(cursor=encode_array(values))
