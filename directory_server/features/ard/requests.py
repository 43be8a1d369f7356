"""Requests of ARD: the query model, filters, facets and page tokens (ARD v0.91, sections 5.3.1 to 5.3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from attrs import evolve, frozen

from ... import serialization
from ...domain.errors import BadInput
from ...domain.filters import KINDS, MAX_ALTERNATIVES, OR, with_filter
from ...domain.kinds import value_of
from ...domain.search import DEFAULT_ORDER, Order, Position, Query
from .names import domain_of

BASE_CONTEXT = "https://agenticresourcediscovery.org/context/v1"
"""The URL of the ARD base context, which applies to every entry and query."""

NAMESPACE = "https://agenticresourcediscovery.org/ns#"
"""The namespace of the terms of the base context."""

MAX_CONTEXTS, MAX_TERMS, MAX_IRI = 8, 32, 512
"""Contexts of a query, terms of one, and characters of a term and of what it stands for."""


@frozen
class Context:
    """What terms and prefixes stand for, beside the base context. None is for those that a context removes."""

    terms: Mapping[str, str | None]

    def path(self, key: str) -> str:
        """Return the path of a filter key by the terms of the base context; an IRI for terms of other namespaces.

        Only the first segment of a path is a term: `metadata.auth` is a path within the member `metadata`. Raises
        BadInput for a prefix that no context binds.
        """
        prefix, colon, local = key.partition(":")
        if colon and not local.startswith("//"):
            if (bound := self.terms.get(prefix)) is None:
                raise BadInput(f"query.filter: @context does not bind the prefix {prefix[:100]!r}.")
            return (bound + local).removeprefix(NAMESPACE)
        if colon:
            return key.removeprefix(NAMESPACE)
        term, dot, rest = key.partition(".")
        bound = self.terms.get(term, NAMESPACE + term)
        return f"{'' if bound is None else bound.removeprefix(NAMESPACE)}{dot}{rest}"


def context_of(value: Any) -> Context:
    """Return the context in the member `@context` of a query. Raises BadInput.

    A URL names a context of another server, which is not read: its terms are unknown.
    """
    contexts = value if isinstance(value, list) else [value]
    if len(contexts) > MAX_CONTEXTS:
        raise BadInput(f"query.@context: must have at most {MAX_CONTEXTS} contexts.")
    terms: dict[str, str | None] = {}
    for context in contexts:
        if isinstance(context, dict) and len(context) <= MAX_TERMS:
            for name, definition in context.items():
                # Members such as @version and @vocab change no prefix.
                if not name.startswith("@"):
                    terms[name] = _iri(name, definition, terms)
        elif not isinstance(context, str) or len(context) > MAX_IRI:
            raise BadInput(f"query.@context: must be URLs, and objects of at most {MAX_TERMS} terms.")
    return Context(terms)


def _iri(name: str, definition: Any, terms: Mapping[str, str | None]) -> str | None:
    iri = definition.get("@id") if isinstance(definition, dict) else definition
    if iri is None:
        return None
    if not isinstance(iri, str) or max(len(iri), len(name)) > MAX_IRI:
        raise BadInput(f"query.@context: {name[:100]!r} must be an IRI of at most {MAX_IRI} characters.")
    prefix, _, local = iri.partition(":")
    return f"{bound}{local}" if (bound := terms.get(prefix)) and len(bound) <= MAX_IRI else iri


CARD_TYPE = "application/mcp-server-card+json"
"""The media type of servers (SEP-2127)."""

DEFAULT_PAGE, MAX_PAGE = 10, 100
"""Entries on a page of a search, by default and at most."""

MAX_FACETS = 20
"""Facets of a request."""

DEFAULT_BUCKETS, MAX_BUCKETS = 20, 1_000
"""Buckets of a facet, by default and at most."""

TYPE, PUBLISHER = "type", "publisher"

FIELDS: Mapping[str, str] = {
    PUBLISHER: "namespace",
    "tags": "tag",
    "capabilities": "tool",
    "version": "version",
    "metadata.verified": "status",
    **{f"metadata.{kind.name}": kind.name for kind in KINDS if kind.counted and kind.name not in ("status", "kind")},
}
"""The fields of entries that can be filtered by and counted, and the name of the search filter of each."""

UNCOUNTED = frozenset({"capabilities", "version"})
"""The fields that can be filtered by only."""

Federation = Literal["auto", "referrals", "none"]


@frozen
class SearchRequest:
    """The body of a search: the query of this registry, None if no entry can match, and what others are asked.

    With `is_first`, it asks for the first page, of at most `size` results.
    """

    query: Query | None
    mode: Federation
    text: str
    filters: Mapping[str, Sequence[str]]
    size: int
    is_first: bool


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


def search_request(body: bytes) -> SearchRequest:
    """Return the search in a body. Raises BadInput."""
    value = _object(serialization.decode(body), "body", ("query", "federation", "pageSize", "pageToken"))
    text, filters = _query_model(value.get("query"), needs_text=True)
    size = integer(value.get("pageSize", DEFAULT_PAGE), "pageSize", 1, MAX_PAGE)
    federation = value.get("federation", "auto")
    if federation not in get_args(Federation):
        raise BadInput("federation: must be auto, referrals or none.")
    query = query_of(text, filters, size, value.get("pageToken"))
    return SearchRequest(query, federation, text, filters, size, "pageToken" not in value)


def explore_request(body: bytes) -> ExploreRequest:
    """Return the request for facets in a body. Raises BadInput."""
    value = _object(serialization.decode(body), "body", ("query", "resultType"))
    text, filters = _query_model(value.get("query", {}), needs_text=False)
    asked = _object(value.get("resultType"), "resultType", ("facets",)).get("facets")
    if not isinstance(asked, list) or not 1 <= len(asked) <= MAX_FACETS:
        raise BadInput(f"resultType.facets: must be an array of 1 to {MAX_FACETS} facets.")
    facets = [_facet(item, f"resultType.facets[{place}]") for place, item in enumerate(asked)]
    if len({facet.field for facet in facets}) < len(facets):
        raise BadInput("resultType.facets: each field must be given once.")
    return ExploreRequest(query_of(text, filters, 1, None, browse=True), facets)


def next_token(query: Query, position: Position | None) -> str | None:
    """Return the token of the page after `position`, None after the last page."""
    return None if position is None else serialization.encode_cursor(query, position)


def _query_model(value: Any, *, needs_text: bool) -> tuple[str, Mapping[str, Sequence[str]]]:
    """Return the text and the filters of the object `query`. Raises BadInput."""
    model = _object(value, "query", ("@context", "text", "filter"))
    text = model.get("text", "")
    if not isinstance(text, str) or len(text) > serialization.MAX_KEYWORDS:
        raise BadInput(f"query.text: must be a string of at most {serialization.MAX_KEYWORDS:,} characters.")
    if needs_text and not text.strip():
        raise BadInput("query.text: is required.")
    given = model.get("filter", {})
    if not isinstance(given, dict):
        raise BadInput("query.filter: must be an object of field paths.")
    context = context_of(model.get("@context", []))
    filters: dict[str, Sequence[str]] = {}
    for key, values in given.items():
        path = known(context.path(key), "query.filter")
        if path in filters:
            raise BadInput(f"query.filter: {path} is given twice.")
        filters[path] = _strings(values, path)
    return text.strip(), filters


def query_of(
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
    keywords = text
    if TYPE in filters:
        kinds = dict.fromkeys(value for given in filters[TYPE] if (value := value_of(given.lower())))
        if not kinds:
            return None
        keywords = with_filter(keywords, "kind", OR.join(kinds))
    for path, values in filters.items():
        if path != TYPE:
            keywords = with_filter(keywords, FIELDS[path], OR.join(_filter_texts(path, values)))
    query = serialization.search_query(keywords, size) if keywords else Query("", size)
    after = None if token is None else _position(token, keywords, sort)
    return evolve(query, after=after, browse=browse, kinds="all").sorted_by(sort, now)


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
    path = known(item.get("field"), where)
    if path in UNCOUNTED:
        raise BadInput(f"{where}: the values of {path} are not counted.")
    return Facet(
        path,
        integer(item.get("limit", DEFAULT_BUCKETS), f"{where}.limit", 1, MAX_BUCKETS),
        integer(item.get("minCount", 1), f"{where}.minCount", 1, 1_000_000_000),
    )


def known(path: Any, where: str) -> str:
    """Return the path of a field that entries are filtered by. Raises BadInput, which names the place `where`."""
    if isinstance(path, str) and (path == TYPE or path in FIELDS):
        return path
    allowed = ", ".join((TYPE, *FIELDS))
    raise BadInput(f"{where}: the field {str(path)[:100]!r} is not supported; supported: {allowed}.")


def _strings(value: Any, path: str) -> Sequence[str]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in values):
        raise BadInput(f"query.filter: {path} must be a string or an array of strings.")
    return values_of(values, path)


def values_of(values: Sequence[str], path: str) -> Sequence[str]:
    """Return the alternatives of the filter at `path`, without surrounding spaces. Raises BadInput."""
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


def integer(value: Any, what: str, least: int, most: int) -> int:
    """Return a whole number from `least` to `most`. Raises BadInput, which names it as `what`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadInput(f"{what}: must be a whole number from {least} to {most:,}.")
    return value
