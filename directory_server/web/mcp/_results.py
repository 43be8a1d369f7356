"""Structured content of the results of tools, and its schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from ... import serialization
from ...domain.search import Match
from ...domain.views import Detail, Hit


@frozen
class SearchResult:
    """Structured content of the result of a search."""

    success: bool
    data: Sequence[Hit] = field(metadata={"description": "Matching entries, best match first."})
    count: int = field(metadata={"minimum": 0, "description": "The number of entries in data."})
    match: Match = field(default="strong", metadata={"description": serialization.MATCH})
    searched_for: str = field(default="", metadata={"description": serialization.SEARCHED_FOR})
    message: str = field(
        default="",
        metadata={
            "description": "What to do if no entry matches closely, or if keywords are too long; which argument was "
            "reduced. Else absent."
        },
    )


@frozen
class FoundTool:
    """A tool in the result of a search for tools."""

    mcp_id: str = field(metadata={"description": "Id of the server that offers the tool."})
    server: str = field(metadata={"description": "Name of that server."})
    name: str = field(metadata={"description": "Name of the tool."})
    title: str = field(default="", metadata={"description": "Title; absent if it has none."})
    description: str = field(default="", metadata={"description": "Beginning of its description; absent if empty."})
    takes: str = field(
        default="",
        metadata={"description": "Parameters with their types; ? marks optional ones. Absent if unknown or none."},
    )
    hints: Mapping[str, bool] = field(
        factory=dict, metadata={"description": "Hints of the server, such as readOnlyHint; absent if it gives none."}
    )


@frozen
class ToolSearchResult:
    """Structured content of the result of a search for tools."""

    success: bool
    data: Sequence[FoundTool] = field(metadata={"description": "Matching tools, best match first."})
    count: int = field(metadata={"minimum": 0, "description": "The number of tools in data."})
    message: str = field(
        default="", metadata={"description": "What to do if no tool matches; which argument was reduced. Else absent."}
    )


@frozen
class DetailResult:
    """Structured content of the result of a request for details."""

    success: bool
    data: Detail = field(metadata={"description": "The complete entry."})


def output_schema(content: type) -> serialization.Schema:
    """Return the schema of `content`: its types only, because the description of a tool says what its result has."""
    schema: serialization.Schema = _without_texts(
        {
            **serialization.object_schema(content, reference=_part),
            "required": serialization.required_fields(content),
        }
    )
    return schema


def _part(of: type) -> serialization.Schema:
    """Return the schema of `of` inside another one: of a hit, the fields that a search returns."""
    if of is Hit:
        return serialization.hit_schema()
    if of is FoundTool:
        schema = serialization.object_schema(FoundTool, reference=_part)
        return {**schema, "required": serialization.required_fields(FoundTool)}
    # Every client reads the list of tools, and some give it to the model: other objects are not described.
    return {"type": "object"}


def _without_texts(schema: Any) -> Any:
    """Return a schema without descriptions and limits."""
    match schema:
        case {"type": _}:
            kept = {name: schema[name] for name in ("type", "required") if name in schema}
            if "properties" in schema:
                kept["properties"] = {name: _without_texts(part) for name, part in schema["properties"].items()}
            if "items" in schema:
                kept["items"] = _without_texts(schema["items"])
            return kept
    return schema
