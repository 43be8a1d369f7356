"""Requests of ARD: the query model, filters, facets and page tokens (ARD v0.9, sections 7.1 to 7.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from attrs import evolve, field, frozen

from ... import serialization
from ...domain.errors import BadInput
from ...domain.filters import KINDS, MAX_ALTERNATIVES, OR, with_filter
from ...domain.search import DEFAULT_ORDER, Order, Position, Query
from .names import domain_of

CARD_TYPE = "application/mcp-server-card+json"
"""The media type of all entries of this registry (SEP-2127)."""

DEFAULT_PAGE, MAX_PAGE = 10, 100
"""Entries on a page of a search, by default and at most."""

DEFAULT_LIST = 20
"""Entries on a page of the list by default."""

MAX_OFFSET = 10_000
"""Entries that the list skips at most. Page tokens have no such limit."""

MAX_FACETS = 20
"""Facets of a request."""

DEFAULT_BUCKETS, MAX_BUCKETS = 20, 1_000
"""Buckets of a facet, by default and at most."""

TYPE, PUBLISHER = "type", "publisher"

FIELDS: Mapping[str, str] = {
    PUBLISHER: "namespace",
    "tags": "tag",
    "metadata.verified": "status",
    **{f"metadata.{kind.name}": kind.name for kind in KINDS if kind.counted and kind.name != "status"},
}
"""The fields of entries that can be filtered by and counted, and the name of the search filter of each."""

Federation = Literal["auto", "referrals", "none"]

_CLAUSE = re.compile(r"""\s*([A-Za-z.]+)\s*=\s*(?:'([^']*)'|"([^"]*)")\s*""")


@frozen
class SearchRequest:
    """The body of a search. Other modes of federation than `referrals` search this registry alone."""

    query: Query | None
    federation: Federation


@frozen
class Facet:
    """A facet to count: its field, the most buckets, and the least count of a bucket."""

    field: str
    limit: int = DEFAULT_BUCKETS
    min_count: int = 1


@frozen
class ExploreRequest:
    """The body of a request for facets; `query` is None if nothing can match."""

    query: Query | None
    facets: Sequence[Facet]


@frozen
class ListRequest:
    """A request for the list; `query` is None if nothing can match. `offset` is None unless it was given.

    `size` is the maximum number of entries.
    """

    query: Query | None
    size: int
    offset: int | None = field(default=None)


def search_request(body: bytes) -> SearchRequest:
    """Return the search in a body. Raises BadInput."""
    value = _object(serialization.decode(body), "body", ("query", "federation", "pageSize", "pageToken"))
    text, filters = _query_model(value.get("query"), needs_text=True)
    size = _integer(value.get("pageSize", DEFAULT_PAGE), "pageSize", 1, MAX_PAGE)
    federation = value.get("federation", "auto")
    if federation not in get_args(Federation):
        raise BadInput("federation: must be auto, referrals or none.")
    query = _query(text, filters, size, value.get("pageToken"))
    return SearchRequest(query, federation)


def explore_request(body: bytes) -> ExploreRequest:
    """Return the request for facets in a body. Raises BadInput."""
    value = _object(serialization.decode(body), "body", ("query", "resultType"))
    text, filters = _query_model(value.get("query", {}), needs_text=False)
    asked = _object(value.get("resultType"), "resultType", ("facets",)).get("facets")
    if not isinstance(asked, list) or not 1 <= len(asked) <= MAX_FACETS:
        raise BadInput(f"resultType.facets: must be an array of 1 to {MAX_FACETS} facets.")
    facets = [_facet(item, f"resultType.facets[{place}]") for place, item in enumerate(asked)]
    return ExploreRequest(_query(text, filters, 1, None, browse=True), facets)


def list_request(parameters: Mapping[str, str], now: float) -> ListRequest:
    """Return the request for the list in the `parameters` of a URL. Raises BadInput.

    `offset` and `type` are those of VS Code's client. `now` is in seconds since the epoch.
    """
    filters = _filter_expression(parameters.get("filter", ""))
    if "type" in parameters:
        filters = {**filters, TYPE: [*filters.get(TYPE, ()), *_values(parameters["type"].split(","), "type")]}
    size = _whole(parameters.get("pageSize", str(DEFAULT_LIST)), "pageSize", 1, MAX_PAGE)
    offset = _whole(parameters["offset"], "offset", 0, MAX_OFFSET) if "offset" in parameters else None
    if offset is not None and "pageToken" in parameters:
        raise BadInput("offset: cannot be given with pageToken.")
    query = _query("", filters, size, parameters.get("pageToken"), browse=True, sort=_order(parameters), now=now)
    return ListRequest(query and evolve(query, offset=offset or 0), size, offset)


def next_token(query: Query, position: Position | None) -> str | None:
    """Return the token of the page after `position`, None after the last page."""
    return None if position is None else serialization.encode_cursor(query, position)


def _query_model(value: Any, *, needs_text: bool) -> tuple[str, Mapping[str, Sequence[str]]]:
    """Return the text and the filters of the object `query`. Raises BadInput."""
    model = _object(value, "query", ("text", "filter"))
    text = model.get("text", "")
    if not isinstance(text, str) or len(text) > serialization.MAX_KEYWORDS:
        raise BadInput(f"query.text: must be a string of at most {serialization.MAX_KEYWORDS:,} characters.")
    if needs_text and not text.strip():
        raise BadInput("query.text: is required.")
    given = model.get("filter", {})
    if not isinstance(given, dict):
        raise BadInput("query.filter: must be an object of field paths.")
    return text.strip(), {_known(path, "query.filter"): _strings(each, path) for path, each in given.items()}


def _query(
    text: str,
    filters: Mapping[str, Sequence[str]],
    size: int,
    token: Any,
    *,
    browse: bool = False,
    sort: Order = DEFAULT_ORDER,
    now: float = 0.0,
) -> Query | None:
    """Return the search for `text` and `filters`; None if no entry can have the type. Raises BadInput.

    `now` is in seconds since the epoch.
    """
    types = filters.get(TYPE)
    if types is not None and CARD_TYPE not in types:
        return None
    keywords = text
    for path, values in filters.items():
        if path != TYPE:
            keywords = with_filter(keywords, FIELDS[path], OR.join(_filter_texts(path, values)))
    query = serialization.search_query(keywords, size) if keywords else Query("", size)
    after = None if token is None else _position(token, keywords, sort)
    return evolve(query, after=after, browse=browse).sorted_by(sort, now)


def _filter_texts(path: str, values: Sequence[str]) -> list[str]:
    """Return the values of the search filter of a field."""
    # Reversed as well: the namespace com.acme of the domain acme.com.
    return [domain_of(value) if path == PUBLISHER else value for value in values]


def _position(token: Any, keywords: str, sort: Order) -> Position:
    try:
        if not isinstance(token, str):
            raise BadInput("")
        return serialization.decode_cursor(token, keywords, sort)
    except BadInput:
        raise BadInput("pageToken: must be the token of the page before, with the same query and order.") from None


def _facet(value: Any, where: str) -> Facet:
    item = _object(value, where, ("field", "limit", "minCount"))
    return Facet(
        _known(item.get("field"), where),
        _integer(item.get("limit", DEFAULT_BUCKETS), f"{where}.limit", 1, MAX_BUCKETS),
        _integer(item.get("minCount", 1), f"{where}.minCount", 1, 1_000_000_000),
    )


def _filter_expression(text: str) -> Mapping[str, Sequence[str]]:
    """Return the filters of an expression such as `type = 'a,b' AND publisherId = 'acme.com'` (ARD, appendix A).

    Raises BadInput. A comma stands between alternatives.
    """
    if not text.strip():
        return {}
    if len(text) > serialization.MAX_KEYWORDS:
        raise BadInput(f"filter: must have at most {serialization.MAX_KEYWORDS:,} characters.")
    found: dict[str, Sequence[str]] = {}
    for part in re.split(r"\s+AND\s+(?=[A-Za-z.]+\s*=)", text):
        clause = _CLAUSE.fullmatch(part)
        if clause is None:
            raise BadInput("filter: must be clauses such as type = 'application/mcp-server-card+json', joined by AND.")
        path = _known(PUBLISHER if clause[1] == "publisherId" else clause[1], "filter")
        if path in found:
            raise BadInput(f"filter: {path} is given twice.")
        found[path] = _values((clause[2] or clause[3] or "").split(","), path)
    return found


def _order(parameters: Mapping[str, str]) -> Order:
    match parameters.get("orderBy", "").split():
        case []:
            return DEFAULT_ORDER
        case ["updatedAt", "DESC" | "desc"]:
            return "updated"
        case _:
            raise BadInput("orderBy: must be updatedAt DESC, or absent for the best known entries first.")


def _known(path: Any, where: str) -> str:
    if path == TYPE or path in FIELDS:
        return str(path)
    allowed = ", ".join((TYPE, *FIELDS))
    raise BadInput(f"{where}: the field {str(path)[:100]!r} is not supported; supported: {allowed}.")


def _strings(value: Any, path: str) -> Sequence[str]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in values):
        raise BadInput(f"query.filter: {path} must be a string or an array of strings.")
    return _values(values, path)


def _values(values: Sequence[str], path: str) -> Sequence[str]:
    found = [value.strip() for value in values]
    if not 1 <= len(found) <= MAX_ALTERNATIVES or not all(found):
        raise BadInput(f"{path}: must have 1 to {MAX_ALTERNATIVES} values that are not empty.")
    if any(character in value for value in found for character in f'"{OR}'):
        raise BadInput(f"{path}: values must not contain quotation marks or vertical bars.")
    return found


def _object(value: Any, what: str, allowed: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{what}: must be an object.")
    unknown = [name for name in value if name not in allowed]
    if unknown:
        raise BadInput(f"{what}: unknown member {unknown[0][:100]!r}; allowed: {', '.join(allowed)}.")
    return value


def _integer(value: Any, what: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadInput(f"{what}: must be a whole number from {least} to {most:,}.")
    return value


def _whole(text: str, what: str, least: int, most: int) -> int:
    return _integer(int(text) if re.fullmatch(r"[0-9]{1,10}", text) else None, what, least, most)
