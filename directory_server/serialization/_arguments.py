"""Arguments of the tools of the MCP endpoint."""

from __future__ import annotations

from typing import Any

from attrs import field, fields, frozen

from ..domain.search import DEFAULT_LIMIT, Query
from ..domain.views import MCP_ID
from ._json import structure
from ._keywords import checked_keywords
from ._parameters import MAX_LIMIT, SearchParameters, entry_id, within

DEFAULT_TOOLS, MAX_TOOLS = 10, 50
"""Tools in one response, by default and at most."""


_URL = fields(SearchParameters)
"""What the parameters of a URL mean, for the arguments of the same name."""


@frozen
class SearchArguments:
    """Arguments of the tool for searches."""

    keywords: str = field(metadata=_URL.keywords.metadata)
    # Some models write 50.0 for 50, and their clients check it against the schema.
    limit: int = field(default=DEFAULT_LIMIT, metadata={"type": "number", **_URL.limit.metadata})


@frozen
class ToolSearchArguments:
    """Arguments of the tool that searches tools."""

    keywords: str = field(metadata=_URL.keywords.metadata)
    limit: int = field(
        default=DEFAULT_TOOLS,
        metadata={
            "type": "number",
            "minimum": 1,
            "maximum": MAX_TOOLS,
            "description": "Largest number of tools in the response.",
        },
    )


@frozen
class DetailArguments:
    """Arguments of the tool for details, and the parameter in the path of an entry."""

    mcp_id: str = field(metadata={**MCP_ID, "description": "Id of an entry, from a search or a change: a UUID."})


def search_arguments(arguments: Any) -> Query:
    """Return the query in the arguments of a tool. Raises BadInput."""
    given = structure(arguments, SearchArguments, what="arguments")
    return Query(checked_keywords(given.keywords), within(given.limit, MAX_LIMIT))


def tool_search_arguments(arguments: Any) -> Query:
    """Return the query in the arguments of the tool that searches tools. Raises BadInput."""
    given = structure(arguments, ToolSearchArguments, what="arguments")
    return Query(checked_keywords(given.keywords), within(given.limit, MAX_TOOLS))


def detail_arguments(arguments: Any) -> str:
    """Return the mcp_id in the arguments of a tool. Raises BadInput."""
    return entry_id(structure(arguments, DetailArguments, what="arguments").mcp_id)
