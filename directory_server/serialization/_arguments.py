"""Arguments of the tools of the MCP endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, fields, frozen

from ..client_config import EDITORS, Editor
from ..domain.errors import BadInput
from ..domain.search import DEFAULT_LIMIT, Query
from ..domain.views import MCP_ID
from ._entries import MATCHING_TOOLS, fields_of
from ._json import decode_stored, encode, structure, tool_result
from ._keywords import ASK_BETTER, LONG_TEXT, checked_keywords, is_read_in_part
from ._parameters import SearchParameters, entry_id

DEFAULT_TOOLS, MAX_TOOLS = 10, 50
"""Tools in one response, by default and at most."""


_URL = fields(SearchParameters)
"""What the parameters of a URL mean, for the arguments of the same name."""

# Some models write 50.0 for 50, and their clients check it against the schema.
_LIMIT = {"type": "number", **_URL.limit.metadata}


_KEYWORDS = {**_URL.keywords.metadata, "description": "Words and filters. Long text is searched in part."}


@frozen
class SearchArguments:
    """Arguments of the tool for searches."""

    keywords: str = field(metadata=_KEYWORDS)
    limit: int = field(default=DEFAULT_LIMIT, metadata=_LIMIT)


@frozen
class ToolSearchArguments:
    """Arguments of the tool that searches tools."""

    keywords: str = field(metadata=_KEYWORDS)
    limit: int = field(
        default=DEFAULT_TOOLS,
        metadata={**_LIMIT, "maximum": MAX_TOOLS, "description": "Largest number of tools in the response."},
    )


@frozen
class EntryPath:
    """The parameter in the path of an entry."""

    mcp_id: str = field(
        metadata={
            **MCP_ID,
            "description": "Id of an entry, from a search or a change: a UUID.",
            # GitHub's server, in the sample and in the official registry.
            "examples": ["b19d2592-6f5c-55b4-a82b-14993d451431"],
        }
    )


_EDITORS = {editor.id: editor for editor in EDITORS}

_DEFAULT_EDITOR = _EDITORS["claude-code"]
"""Its configuration has no secrets, and many programs read it."""


@frozen
class DetailArguments:
    """Arguments of the tool for details."""

    mcp_id: str = field(metadata=fields(EntryPath).mcp_id.metadata)
    editor: str = field(
        default=_DEFAULT_EDITOR.id,
        metadata={"enum": [*_EDITORS], "description": "The program whose configuration is returned."},
    )
    fields: str = field(
        default="",
        metadata={
            "description": "Names of fields to return whole in place of the short form, separated by commas: "
            "tools,server for the tools with their descriptions and the document."
        },
    )


@frozen
class DetailQuery:
    """A request for an entry: its id, the editor of its configuration, and the fields to return, none for the usual."""

    mcp_id: str
    editor: Editor
    fields: Sequence[str]


_LIMITS: Mapping[type, Mapping[str, int]] = {
    cls: fields(cls).limit.metadata for cls in (SearchArguments, ToolSearchArguments)
}
"""The bounds of `limit`."""


def search_arguments(
    arguments: Any, cls: type[SearchArguments | ToolSearchArguments] = SearchArguments
) -> tuple[Query, str]:
    """Return the query in the arguments of a tool, and a note on what was reduced. Raises BadInput."""
    given, notes = structure(arguments, cls, what="arguments"), list[str]()
    least, most = _LIMITS[cls]["minimum"], _LIMITS[cls]["maximum"]
    if given.limit < least:
        raise BadInput(f"limit: must be a whole number from {least} to {most}, not {given.limit}.")
    if given.limit > most:
        notes.append(f"limit: was reduced to {most}, the maximum.")
    query = Query(checked_keywords(given.keywords), min(given.limit, most), kinds="servers")
    if is_read_in_part(query.keywords):
        notes += LONG_TEXT, ASK_BETTER
    return query, " ".join(notes)


def detail_arguments(arguments: Any) -> tuple[DetailQuery, str]:
    """Return the request in the arguments of a tool, and an empty note. Raises BadInput."""
    given = structure(arguments, DetailArguments, what="arguments")
    editor = _EDITORS.get(given.editor)
    if editor is None:
        raise BadInput(f"editor: must be one of {', '.join(_EDITORS)}, not {given.editor[:40]!r}.")
    names = fields_of(given.fields.replace(" ", "")) if given.fields else ()
    if MATCHING_TOOLS in names:
        raise BadInput(f"fields: {MATCHING_TOOLS} is a field of searches.")
    return DetailQuery(entry_id(given.mcp_id), editor, names), ""


def add_message(result: bytes, message: str) -> bytes:
    """Return an encoded tool result with `message` at the end of the member `message` of its content."""
    content = decode_stored(result)["structuredContent"]
    before = content.get("message")
    return tool_result(encode({**content, "message": f"{before} {message}" if before else message}))
