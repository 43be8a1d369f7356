"""Requests for the list of ARD: its filter expressions and orders (ARD v0.91, section 5.3.5 and appendix A)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import evolve, field, frozen

from ... import serialization
from ...domain.errors import BadInput
from ...domain.search import DEFAULT_ORDER, Order, Query
from ...domain.versions import epoch
from .requests import MAX_PAGE, PUBLISHER, TYPE, integer, known, query_of, values_of

DEFAULT_LIST = 20
"""Entries on a page of the list by default."""

MAX_OFFSET = 10_000
"""Entries that the list skips at most. Page tokens have no such limit."""

UPDATED_AFTER = "updatedAfter"

_HOUR = 3_600

_CLAUSE = re.compile(r"""\s*([A-Za-z.]+)\s*[=>]\s*(?:'([^']*)'|"([^"]*)")\s*""")

# One space before: a run of spaces would be read from each of them.
_AND = re.compile(r"(?<=\s)AND\s+(?=[A-Za-z.]+\s*[=>])")

_ORDERS: Mapping[str, Order] = {
    "": DEFAULT_ORDER,
    "name": "name",
    "name asc": "name",
    "updatedat desc": "updated",
    "updated_at desc": "updated",
}


@frozen
class ListRequest:
    """A request for the list; `query` is None if nothing can match. `offset` is None unless it was given.

    `size` is the maximum number of entries.
    """

    query: Query | None
    size: int
    offset: int | None = field(default=None)


def list_request(parameters: Mapping[str, str], now: float) -> ListRequest:
    """Return the request for the list in the `parameters` of a URL. Raises BadInput.

    `offset` and `type` are those of VS Code's client. `now` is in seconds since the epoch.
    """
    filters = dict(_filter_expression(parameters.get("filter", "")))
    since = _hour(filters.pop(UPDATED_AFTER)[0]) if UPDATED_AFTER in filters else 0
    if "type" in parameters:
        filters[TYPE] = [*filters.get(TYPE, ()), *values_of(parameters["type"].split(","), "type")]
    size = _whole(parameters.get("pageSize", str(DEFAULT_LIST)), "pageSize", 1, MAX_PAGE)
    offset = _whole(parameters["offset"], "offset", 0, MAX_OFFSET) if "offset" in parameters else None
    if offset is not None and "pageToken" in parameters:
        raise BadInput("offset: cannot be given with pageToken.")
    sort = _order(parameters)
    if since and sort == DEFAULT_ORDER:
        sort = "updated"
    query = query_of("", filters, size, parameters.get("pageToken"), browse=True, sort=sort, now=now)
    return ListRequest(query and evolve(query, offset=offset or 0, since=since), size, offset)


def _filter_expression(text: str) -> Mapping[str, Sequence[str]]:
    """Return the filters of an expression such as `type = 'a,b' AND updatedAfter > '2026-01-31'` (ARD, appendix A).

    Raises BadInput. A comma stands between alternatives.
    """
    if not text.strip():
        return {}
    if len(text) > serialization.MAX_KEYWORDS:
        raise BadInput(f"filter: must have at most {serialization.MAX_KEYWORDS:,} characters.")
    filters: dict[str, Sequence[str]] = {}
    for part in _AND.split(text):
        clause = _CLAUSE.fullmatch(part)
        if clause is None:
            raise BadInput("filter: must be clauses such as type = 'application/mcp-server-card+json', joined by AND.")
        name, value = clause[1], clause[2] or clause[3] or ""
        path = name if name == UPDATED_AFTER else known(PUBLISHER if name == "publisherId" else name, "filter")
        if path in filters:
            raise BadInput(f"filter: {path} is given twice.")
        filters[path] = [value] if path == UPDATED_AFTER else values_of(value.split(","), path)
    return filters


def _hour(text: str) -> int:
    """Return the hour since the epoch that begins at a time, or before it: the index has dates in hours."""
    moment = epoch(text.strip())
    if moment is None:
        raise BadInput(f"filter: {UPDATED_AFTER} must be a date or time of ISO 8601, such as '2026-01-31T00:00:00Z'.")
    return max(int(moment) // _HOUR, 1)


def _order(parameters: Mapping[str, str]) -> Order:
    order = _ORDERS.get(" ".join(parameters.get("orderBy", "").split()).lower())
    if order is None:
        raise BadInput("orderBy: must be name or updatedAt DESC, or absent for the best known entries first.")
    return order


def _whole(text: str, what: str, least: int, most: int) -> int:
    return integer(int(text) if re.fullmatch(r"[0-9]{1,10}", text) else None, what, least, most)
