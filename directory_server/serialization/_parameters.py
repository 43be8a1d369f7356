"""Parameters of URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args
from urllib.parse import parse_qsl, urlencode

from attrs import field, fields, frozen

from ..domain.errors import BadInput
from ..domain.filters import with_filter
from ..domain.search import DEFAULT_LIMIT, DEFAULT_ORDER, ORDERS, Order, Query
from ._cursors import decode_cursor
from ._entries import SEARCH_FIELDS, fields_of
from ._keywords import KEYWORDS, MAX_WORDS, checked_keywords

Match = Literal["entries", "tools"]

MATCHES: Sequence[Match] = get_args(Match)

MAX_LIMIT = 100
"""Hits in one response."""

MAX_CHANGES = 1_000
"""Changes in one page."""

DEFAULT_CHANGES = 100
"""Changes in a page by default."""

MAX_PARAMETERS = 20
"""Parameters of a URL."""

POSITION = "^([0-9]{1,18})(?:-([0-9a-f]{12}))?$"
"""The seq of a change, optionally with the id of its log. SQLite integers hold eighteen digits."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@frozen
class ChangesQuery:
    """A request for changes: those after `since` (a `seq`), of entries that match `keywords`.

    `limit` is the size of a page. `log` is the id of the log that `since` belongs to. None means not given.
    """

    since: int | None = None
    keywords: str | None = None
    limit: int | None = None
    log: str | None = None


LIMIT = {"minimum": 1, "maximum": MAX_LIMIT, "description": "Largest number of entries in the response."}
"""JSON Schema keywords of the limit of a search."""


@frozen
class SearchParameters:
    """Parameters of a search in a URL. The metadata are keywords of JSON Schema, as in the classes below."""

    keywords: str = field(metadata=KEYWORDS)
    limit: int = field(default=DEFAULT_LIMIT, metadata=LIMIT)
    match: Match = field(
        default="entries",
        metadata={
            "description": (
                "What must match: any text of an entry, or a tool that it offers. tools is the same as the filter "
                "match:tools in keywords."
            ),
        },
    )
    sort: Order = field(
        default=DEFAULT_ORDER,
        metadata={
            "description": (
                "Order of the entries: best match first, most stars first, or last updated first. In the latter two, "
                "entries that match much worse than the best ones are left out, and entries without the value are last."
            ),
        },
    )
    cursor: str | None = field(
        default=None,
        metadata={"description": "Start of the page, from the Link header of the previous page. Opaque."},
    )
    fields: Sequence[str] | None = field(
        default=None,
        metadata={
            "description": (
                "Fields of Detail to return for each entry, in this order, and matching_tools: tools of the entry that "
                "match the keywords. By default: name, brief, website_url. "
                "A page of large entries may have fewer entries than its limit."
            ),
            "items": {"enum": list(SEARCH_FIELDS)},
            "minItems": 1,
            "examples": [["mcp_id", "name", "server_name"]],
        },
    )


@frozen
class ChangesParameters:
    """Parameters of a list or stream of changes in a URL."""

    since: str | None = field(
        default=None,
        metadata={
            "description": (
                "Return changes after this position: 0 for the whole log, the next of a page, the id of an event, or "
                "the seq of a change. A seq does not reveal that the directory was restored from a backup. By default "
                "a page starts at the beginning of the log, and a stream with new changes."
            ),
            "pattern": POSITION,
            "examples": ["0", "51-0c9f1e22ab34"],
        },
    )
    keywords: str | None = field(
        default=None,
        metadata={
            **KEYWORDS,
            "maxLength": MAX_WORDS,
            "description": "Only entries that contain all of these whole words. Filters work as in a search.",
        },
    )
    limit: int = field(
        default=DEFAULT_CHANGES,
        metadata={
            "minimum": 1,
            "maximum": MAX_CHANGES,
            "description": "Largest number of changes in a page; fewer if they are large. Streams ignore it.",
        },
    )


@frozen
class SearchRequest:
    """A search of a URL: its query, and the fields to return of each entry, None for the default ones."""

    query: Query
    fields: Sequence[str] | None
    _given: Mapping[str, str]

    def next_page(self, cursor: str) -> str:
        """Return the query string of the page that begins at `cursor`: the given parameters, with this cursor."""
        return urlencode({**self._given, "cursor": cursor})


_SEARCH_NAMES = tuple(attribute.name for attribute in fields(SearchParameters))
_CHANGES_NAMES = tuple(attribute.name for attribute in fields(ChangesParameters))


def search_query(keywords: str, limit: int) -> Query:
    """Return a query for `keywords` in the default order. Raises BadInput."""
    return Query(checked_keywords(keywords), limit)


def search_parameters(query: bytes, now: float = 0.0) -> SearchRequest:
    """Return the search in the query string of a URL. Raises BadInput, also for repeated parameters.

    `now` is in seconds since the epoch, for the order by dates: later dates count as unknown.
    """
    values = url_parameters(query, *_SEARCH_NAMES)
    keywords = matching(values.get("match", "entries"), checked_keywords(values.get("keywords", "")))
    limit = limit_of(values["limit"], MAX_LIMIT) if "limit" in values else DEFAULT_LIMIT
    sort = order(values["sort"]) if "sort" in values else DEFAULT_ORDER
    after = decode_cursor(values["cursor"], keywords, sort) if "cursor" in values else None
    selected = fields_of(values["fields"]) if "fields" in values else None
    return SearchRequest(Query(keywords, limit, after).sorted_by(sort, now), selected, values)


def matching(match: str, keywords: str) -> str:
    """Return `keywords` with the filter for `match`. Raises BadInput."""
    if match not in MATCHES:
        raise BadInput(f"match: must be {' or '.join(MATCHES)}, not {match[:50]!r}.")
    return keywords if match == "entries" else checked_keywords(with_filter(keywords, "match", match))


def order(text: str) -> Order:
    """Return the order of hits that is called `text`. Raises BadInput."""
    for known in ORDERS:
        if text == known:
            return known
    *others, last = ORDERS
    raise BadInput(f"sort: must be {', '.join(others)} or {last}, not {text[:50]!r}.")


def changes_parameters(query: bytes, last_event_id: str | None) -> ChangesQuery:
    """Return the request for changes in the query string of a URL. Raises BadInput.

    `last_event_id`, the last event that a reconnecting client received, overrides `since`.
    """
    values = url_parameters(query, *_CHANGES_NAMES)
    since, log = _position("since", values["since"]) if "since" in values else (None, None)
    if last_event_id:
        since, log = _position("Last-Event-ID", last_event_id)
    return ChangesQuery(
        since,
        checked_keywords(values["keywords"], MAX_WORDS) if "keywords" in values else None,
        limit_of(values["limit"], MAX_CHANGES) if "limit" in values else None,
        log,
    )


def no_parameters(query: bytes) -> None:
    """Raise BadInput if the query string has parameters."""
    url_parameters(query)


def entry_id(text: str) -> str:
    """Return `text` as an mcp_id in its canonical form (RFC 9562, section 4). Raises BadInput."""
    if not _UUID.fullmatch(text):
        raise BadInput("mcp_id: must be a UUID from a search result, such as 123e4567-e89b-52d3-a456-426614174000.")
    return text.lower()


def given_parameters(query: bytes) -> list[tuple[str, str]]:
    """Return the names and values in a query string (WHATWG URL, section 5.1). Raises BadInput."""
    try:
        return parse_qsl(query.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS)
    except UnicodeDecodeError:
        raise BadInput("The URL's parameters are not UTF-8.") from None
    except ValueError:
        raise BadInput(f"The URL has more than {MAX_PARAMETERS} parameters.") from None


def url_parameters(query: bytes, *known: str) -> dict[str, str]:
    """Return the parameters of a query string. Raises BadInput for any not in `known`."""
    values: dict[str, str] = {}
    for name, value in given_parameters(query):
        if name not in known:
            allowed = f"allowed: {', '.join(known)}" if known else "this path has no parameters"
            raise BadInput(f"Unknown parameter {name[:100]!r}; {allowed}.")
        if name == "fields" and name in values:
            # Generated clients repeat the parameter of a list, although the OpenAPI document says "explode: false".
            values[name] += f",{value}"
        elif name in values:
            raise BadInput(f"{name}: is given more than once.")
        else:
            values[name] = value
    return values


def limit_of(text: str, maximum: int) -> int:
    """Return the limit in a parameter. Raises BadInput if it is not from 1 to `maximum`."""
    # Ten digits are more than any limit here, and int() is slow on thousands of them.
    if not re.fullmatch(r"[0-9]{1,10}", text):
        raise BadInput(f"limit: must be a whole number from 1 to {maximum}.")
    limit = int(text)
    if not 1 <= limit <= maximum:
        raise BadInput(f"limit: must be a whole number from 1 to {maximum}, not {limit}.")
    return limit


def _position(name: str, text: str) -> tuple[int, str | None]:
    match = re.fullmatch(POSITION, text)
    if not match:
        raise BadInput(
            f"{name}: must be the seq of a change, such as 51, or the id of an event or page, such as 51-0c9f1e22ab34."
        )
    return int(match[1]), match[2]
