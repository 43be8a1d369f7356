"""Parameters of searches and of the change feed."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from directory_server import serialization
from directory_server.domain.errors import BadInput
from directory_server.domain.search import ORDERS, Order, Position, Query

SCORES = st.floats(-(2.0**53), 2.0**53)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
tool_search_arguments = partial(serialization.search_arguments, cls=serialization.ToolSearchArguments)
KEYWORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=600).filter(str.strip)


@given(KEYWORDS, SCORES, NAMES, st.sampled_from(ORDERS))
def test_cursor_round_trip(keywords: str, score: float, name: str, sort: Order) -> None:
    position = Position(score, name)
    cursor = serialization.encode_cursor(Query(keywords, sort=sort), position)
    assert cursor.isascii()
    query = urlencode({"keywords": keywords, "cursor": cursor, "sort": sort}).encode()
    assert serialization.search_parameters(query).query.after == position


def test_a_semicolon_is_part_of_a_value() -> None:
    assert serialization.search_parameters(b"keywords=a;b").query.keywords == "a;b"


def test_too_many_parameters_are_rejected() -> None:
    with pytest.raises(BadInput, match="more than 20"):
        serialization.search_parameters(b"&".join([b"x=1"] * 1_000))


@pytest.mark.parametrize(
    ("limit", "read"),
    [(1, 1), (100, 100), (7.0, 7), ("5", 5), ("7.0", 7), (" 100 ", 100), ("007", 7), (None, 50), (2**53, 100)],
)
def test_limits_that_are_allowed(limit: object, read: int) -> None:
    assert serialization.search_arguments({"keywords": "a", "limit": limit})[0] == Query("a", read, kinds="servers")


@pytest.mark.parametrize(
    "limit", ["", " ", "five", "5 items", "1.5", "5e1", "0x5", "1,000", "٥", "null", "9" * 19, True, [5], {"limit": 5}]
)
def test_limits_that_are_no_whole_numbers(limit: object) -> None:
    with pytest.raises(BadInput, match=r"arguments\.limit: must be a whole number"):
        serialization.search_arguments({"keywords": "a", "limit": limit})


@pytest.mark.parametrize("limit", [0, -1, "0", "-3", -(2.0**60)])
def test_limits_below_one(limit: object) -> None:
    with pytest.raises(BadInput, match=r"limit: must be a whole number from 1 to 50, not"):
        tool_search_arguments({"keywords": "a", "limit": limit})


@pytest.mark.parametrize("limit", [51, "51", 51.0, 1e300, "9" * 18])
def test_a_limit_above_the_maximum_is_the_maximum_and_noted(limit: object) -> None:
    query, note = tool_search_arguments({"keywords": "a", "limit": limit})
    assert (query, note) == (Query("a", 50, kinds="servers"), "limit: was reduced to 50, the maximum.")
    assert tool_search_arguments({"keywords": "a", "limit": 50})[1] == ""


def test_null_arguments_are_absent() -> None:
    everything = {"keywords": "a", "limit": None, "sort": None, "": None}
    assert serialization.search_arguments(everything) == (Query("a", 50, kinds="servers"), "")
    assert tool_search_arguments(everything) == (Query("a", 10, kinds="servers"), "")
    for read, name in (
        (serialization.search_arguments, "keywords"),
        (tool_search_arguments, "keywords"),
        (serialization.detail_arguments, "mcp_id"),
    ):
        with pytest.raises(BadInput, match=rf"arguments\.{name}: is required"):
            read({name: None, "limit": None})


def test_the_default_limit_is_fifty() -> None:
    assert serialization.search_arguments({"keywords": "a"})[0].limit == 50
    assert serialization.search_parameters(b"keywords=a").query.limit == 50


@pytest.mark.parametrize(
    ("query", "last", "watch"),
    [
        (b"", None, serialization.ChangesQuery()),
        (b"since=0", None, serialization.ChangesQuery(0)),
        (b"since=5", "", serialization.ChangesQuery(5)),
        (b"since=5", "9", serialization.ChangesQuery(9)),
        (b"since=9", "5", serialization.ChangesQuery(5)),
        (b"since=5-0c9f1e22ab34", None, serialization.ChangesQuery(5, log="0c9f1e22ab34")),
        (b"since=5-0c9f1e22ab34", "9", serialization.ChangesQuery(9)),
        (b"since=5", "9-0c9f1e22ab34", serialization.ChangesQuery(9, log="0c9f1e22ab34")),
        (b"keywords=a%20b&limit=1000", None, serialization.ChangesQuery(None, "a b", 1_000)),
    ],
)
def test_valid_watch_parameters(query: bytes, last: str | None, watch: serialization.ChangesQuery) -> None:
    assert serialization.changes_parameters(query, last) == watch


@pytest.mark.parametrize(
    ("query", "last", "message"),
    [
        (b"since=", None, "since: must be the seq"),
        (b"since=-1", None, "since: must be the seq"),
        (b"since=1.0", None, "since: must be the seq"),
        (b"since=" + b"9" * 19, None, "since: must be the seq"),
        (b"since=5-", None, "since: must be the seq"),
        (b"since=5-0C9F1E22AB34", None, "since: must be the seq"),
        (b"since=5-0c9f1e22ab345", None, "since: must be the seq"),
        (b"since=-0c9f1e22ab34", None, "since: must be the seq"),
        (b"", "x", "Last-Event-ID: must be the seq"),
        (b"", "1\n2", "Last-Event-ID: must be the seq"),
    ],
)
def test_invalid_watch_parameters(query: bytes, last: str | None, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        serialization.changes_parameters(query, last)


def test_searches_have_more_keywords_than_changes() -> None:
    text = "a" * serialization.MAX_KEYWORDS
    assert serialization.search_parameters(f"keywords={text}".encode()).query.keywords == text
    assert serialization.search_arguments({"keywords": text})[0].keywords == text
    words = "a" * serialization.MAX_WORDS
    assert serialization.changes_parameters(f"keywords={words}".encode(), None).keywords == words
    for read in (
        lambda: serialization.search_arguments({"keywords": f"{text}a"}),
        lambda: serialization.changes_parameters(f"keywords={words}a".encode(), None),
    ):
        with pytest.raises(BadInput, match=r"keywords: must have at most (4,096|256) characters, not"):
            read()


def test_filters_of_long_keywords_are_short() -> None:
    longest = "tag:" + "x" * 124
    assert serialization.search_arguments({"keywords": f"{'a ' * 200} {longest}"})
    assert serialization.search_arguments({"keywords": f"{longest}x"})
    with pytest.raises(BadInput, match="filters must have at most 128 characters together"):
        serialization.search_arguments({"keywords": f"{'a ' * 200} {longest}x"})


def test_a_cursor_of_long_keywords_is_short() -> None:
    keywords = "雨" * serialization.MAX_KEYWORDS
    cursor = serialization.encode_cursor(Query(keywords), Position(1.0, "a/b"))
    assert len(cursor) < 100
    assert serialization.search_parameters(urlencode({"keywords": keywords, "cursor": cursor}).encode()).query.after
    with pytest.raises(BadInput, match="cursor: belongs to a search"):
        serialization.search_parameters(urlencode({"keywords": keywords[1:], "cursor": cursor}).encode())
