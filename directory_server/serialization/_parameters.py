"""What is asked of the directory, out of a URL's parameters or a tool's arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from attrs import frozen

from ..domain.errors import BadInput
from ..domain.search import DEFAULT_LIMIT, Position, Query
from ._cursors import decode_array, encode_array
from ._records import fields_of
from ._structuring import structure

MAX_KEYWORDS = 256
"""Characters of `keywords`."""

MAX_LIMIT = 100
"""Hits in one answer."""

MAX_CHANGES = 1_000
"""Changes in one page."""

DEFAULT_CHANGES = 100
"""Changes in a page for one who names no limit."""

MAX_PARAMETERS = 20
"""Parameters of a URL that are looked at."""

SEARCH_PARAMETERS = ("keywords", "limit", "cursor", "fields")
"""What the URL of a search may say."""

WATCH_PARAMETERS = ("since", "keywords", "limit")
"""What the URL of the changes may say."""

POSITION = "^([0-9]{1,18})(?:-([0-9a-f]{12}))?$"
"""The seq of a change, and the id of its log where an event or a page gave it. SQLite compares eighteen digits."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@frozen
class Watch:
    """What somebody wants of the changes: those behind `since` (a `seq`), of entries that have all of `keywords`.

    `limit` is how many of them at a time. `log` is the id of the log that `since` belongs to. What is None was not
    asked for, or not said.
    """

    since: int | None = None
    keywords: str | None = None
    limit: int | None = None
    log: str | None = None


@frozen
class _SearchArguments:
    keywords: str
    limit: int = DEFAULT_LIMIT


@frozen
class _DetailArguments:
    mcp_id: str


def search_arguments(arguments: Any) -> Query:
    """Return the search that the arguments of `search_mcp` ask for. Raises BadInput."""
    asked = structure(arguments, _SearchArguments, what="arguments")
    return Query(_keywords(asked.keywords), _within(asked.limit, MAX_LIMIT))


def detail_arguments(arguments: Any) -> str:
    """Return the mcp_id that the arguments of `get_mcp_detail` name. Raises BadInput."""
    return entry_id(structure(arguments, _DetailArguments, what="arguments").mcp_id)


def search_parameters(query: bytes) -> Query:
    """Return the search that the query of a URL asks for, each parameter given once. Raises BadInput."""
    values = _parameters(query, *SEARCH_PARAMETERS)
    keywords = _keywords(values.get("keywords", ""))
    limit = _limit(values["limit"], MAX_LIMIT) if "limit" in values else DEFAULT_LIMIT
    after = decode_cursor(values["cursor"], keywords) if "cursor" in values else None
    return Query(keywords, limit, after)


def search_fields(query: bytes) -> Sequence[str] | None:
    """Return the fields of each hit that the query of a URL names, or None where it names none. Raises BadInput."""
    if b"fields" not in query:
        return None
    values = _parameters(query, *SEARCH_PARAMETERS)
    return fields_of(values["fields"]) if "fields" in values else None


def watch_parameters(query: bytes, last_event_id: str | None) -> Watch:
    """Return what the query of a URL wants of the changes.

    `last_event_id` is what a stream's reader got last and goes before `since`, which stands in the URL of its first
    request and of all later ones. Raises BadInput.
    """
    values = _parameters(query, *WATCH_PARAMETERS)
    since, log = _position("since", values["since"]) if "since" in values else (None, None)
    if last_event_id:
        since, log = _position("Last-Event-ID", last_event_id)
    return Watch(
        since,
        _keywords(values["keywords"]) if "keywords" in values else None,
        _limit(values["limit"], MAX_CHANGES) if "limit" in values else None,
        log,
    )


def no_parameters(query: bytes) -> None:
    """Raise BadInput where a URL that takes no parameters has some."""
    _parameters(query)


def entry_id(text: str) -> str:
    """Return `text` as an mcp_id in its canonical form (RFC 9562, section 4). Raises BadInput."""
    if not _UUID.fullmatch(text):
        raise BadInput(
            "mcp_id: must be a UUID such as 123e4567-e89b-52d3-a456-426614174000, as search results give it."
        )
    return text.lower()


def encode_cursor(query: Query, place: Position) -> str:
    """Return the cursor that goes on with `query` behind `place`."""
    return encode_array([query.keywords, place.score, place.name])


def decode_cursor(cursor: str, keywords: str) -> Position:
    """Return the place at which `cursor` goes on with `keywords`. Raises BadInput."""
    try:
        match decode_array(cursor):
            case [str(asked), float() | int() as score, str(name)]:
                pass
            case _:
                raise ValueError
    except ValueError:
        raise BadInput("cursor: is not one that this server gave; take it from the Link header of a page.") from None
    if asked != keywords:
        raise BadInput(f"cursor: belongs to the search for {asked!r}; give the keywords of the page it came from.")
    return Position(float(score), name)


def _parameters(query: bytes, *known: str) -> dict[str, str]:
    """Return the parameters of a URL's query (WHATWG URL, section 5.1), of which only `known` ones may be there."""
    try:
        given = parse_qsl(query.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except UnicodeDecodeError:
        raise BadInput("The URL's parameters are not UTF-8.") from None
    except ValueError:
        raise BadInput(f"The URL has more than {MAX_PARAMETERS} parameters.") from None
    values: dict[str, str] = {}
    for name, value in given:
        if name not in known:
            allowed = f"known are {', '.join(known)}" if known else "this path takes none"
            raise BadInput(f"Unknown parameter {name[:100]!r}; {allowed}.")
        if name in values:
            raise BadInput(f"{name}: is given more than once.")
        values[name] = value
    return values


def _keywords(text: str) -> str:
    if not text.strip():
        raise BadInput(f"keywords: is required, 1 to {MAX_KEYWORDS} characters of what to look for.")
    if len(text) > MAX_KEYWORDS:
        raise BadInput(f"keywords: has {len(text):,} characters; at most {MAX_KEYWORDS} are allowed.")
    return text


def _limit(text: str, most: int) -> int:
    # Ten digits are more than any limit here, and int() is slow on thousands of them.
    if not re.fullmatch(r"[0-9]{1,10}", text):
        raise BadInput(f"limit: must be a whole number of 1 to {most}.")
    return _within(int(text), most)


def _within(limit: int, most: int) -> int:
    if not 1 <= limit <= most:
        raise BadInput(f"limit: must be 1 to {most}, not {limit}.")
    return limit


def _position(name: str, text: str) -> tuple[int, str | None]:
    match = re.fullmatch(POSITION, text)
    if not match:
        raise BadInput(
            f"{name}: must be the seq of a change, such as 51, or the id of an event or a page, such as "
            "51-0c9f1e22ab34, which also tells that the directory was restored from a backup."
        )
    return int(match[1]), match[2]
