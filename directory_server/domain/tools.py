"""Tools that servers offer, as searches name them: bounded, cleaned texts of publishers and remotes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from attrs import field, frozen

from ..texts.sanitize import clean_line, shorten

MAX_OFFERED = 100
"""Tools of an entry that searches name."""

MAX_NAME = 128
"""Characters of the name or title of a tool (MCP 2025-11-25, "Tool Names")."""

MAX_LINE = 120
"""Characters of the description of a tool in a hit."""

MAX_DESCRIPTION = 400
"""Characters of a tool's description whose words are searched."""

MAX_TAKES = 240
"""Characters of the parameters of a tool."""

MAX_PARAMETERS = 12
"""Parameters of a tool that are named."""

HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
"""What a server may say of the effects of a tool (MCP 2025-11-25, ToolAnnotations)."""

TOOL_HINTS = ("read-only", "may-delete", "no-hints")
"""What the hints of all tools of an entry say."""


@frozen
class OfferedTool:
    """A tool: cleaned texts, each on one line. `takes` has its parameters with their types; `?` marks optional ones."""

    name: str = field(metadata={"description": "Name of the tool.", "maxLength": MAX_NAME})
    title: str = field(default="", metadata={"description": "Title; empty if it has none.", "maxLength": MAX_NAME})
    description: str = field(
        default="", metadata={"description": "Beginning of its description; may be empty.", "maxLength": MAX_LINE}
    )
    takes: str = field(
        default="",
        metadata={
            "description": "Parameters with their types, ? after the name of an optional one; empty if unknown.",
            "maxLength": MAX_TAKES,
            "examples": ["path: string, head?: number"],
        },
    )
    hints: Mapping[str, bool] = field(
        factory=dict, metadata={"description": f"Hints that the server gives, of {', '.join(HINTS)}."}
    )


@frozen
class Parameter:
    """A parameter of a tool: its name, type and description, and whether it is required. The texts are as given."""

    name: str
    type: str
    description: str
    is_required: bool


def offered_tool(tool: Mapping[str, Any]) -> OfferedTool | None:
    """Return a tool in the form of `tools/list` as searches name it, None if it has no name."""
    name = line_of(tool.get("name"), MAX_NAME)
    schema = tool.get("inputSchema") or tool.get("input_schema")
    return (
        OfferedTool(
            name,
            title_of(tool),
            line_of(tool.get("description"), MAX_DESCRIPTION),
            takes_of(schema if isinstance(schema, dict) else {}),
            hints_of(tool),
        )
        if name
        else None
    )


def title_of(tool: Mapping[str, Any]) -> str:
    """Return the cleaned title of a tool, which older servers give as an annotation; empty if it has none."""
    return line_of(tool.get("title"), MAX_NAME) or line_of(_annotations(tool).get("title"), MAX_NAME)


def hints_of(tool: Mapping[str, Any]) -> Mapping[str, bool]:
    annotations = _annotations(tool)
    return {name: value for name in HINTS if isinstance(value := annotations.get(name), bool)}


def hinted_values(hints: Sequence[Mapping[str, bool]], *, are_all: bool = True) -> tuple[str, ...]:
    """Return the values of the filter `tools` for tools with `hints`; a server without tools has none.

    Without `are_all`, there are more tools. A tool that is not read only may delete unless it says otherwise (MCP
    2025-11-25, ToolAnnotations).
    """
    if not hints:
        return ()
    writes = [hinted for hinted in hints if "destructiveHint" in hinted or hinted.get("readOnlyHint") is False]
    may_delete = any(hinted.get("destructiveHint", True) and not hinted.get("readOnlyHint") for hinted in writes)
    found = {
        "read-only": are_all and all(hinted.get("readOnlyHint") is True for hinted in hints),
        "may-delete": may_delete,
        "no-hints": are_all and not any(hints),
    }
    return tuple(value for value, is_given in found.items() if is_given)


def takes_of(schema: Mapping[str, Any]) -> str:
    """Return the parameters of an input schema on one line: `path: string, head?: number`."""
    shown = (
        f"{line_of(parameter.name, 60)}{'' if parameter.is_required else '?'}: {line_of(parameter.type, 60) or 'any'}"
        for parameter in islice(parameters_of(schema), MAX_PARAMETERS)
    )
    return clean_line(", ".join(shown), MAX_TAKES)


def parameters_of(schema: Mapping[str, Any]) -> Iterator[Parameter]:
    """Yield the parameters of an input schema."""
    required = schema.get("required")
    names = {name for name in required[:1_000] if isinstance(name, str)} if isinstance(required, list) else set()
    properties = schema.get("properties")
    for name, value in properties.items() if isinstance(properties, dict) else ():
        definition = value if isinstance(value, dict) else {}
        description = definition.get("description")
        yield Parameter(name, _type_of(definition), description if isinstance(description, str) else "", name in names)


def first_line(description: str) -> str:
    """Return the beginning of a description, at most MAX_LINE characters."""
    return shorten(description, MAX_LINE)


def line_of(value: object, limit: int) -> str:
    """Return a text cleaned, on one line and bounded; "" if it is no text."""
    return clean_line(value, limit) if isinstance(value, str) else ""


def _annotations(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    found = tool.get("annotations")
    return found if isinstance(found, dict) else {}


def _type_of(definition: Mapping[str, Any]) -> str:
    """Return the type of a JSON Schema, such as `string`, `array of string`, `string or null`; empty if unknown."""
    kinds, choices, items = definition.get("type"), definition.get("enum"), definition.get("items")
    words = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    text = " or ".join(word for word in words[:4] if isinstance(word, str))
    if text == "array" and isinstance(items, dict) and isinstance(items.get("type"), str) and items["type"]:
        text = f"array of {items['type']}"
    if isinstance(choices, list) and choices and all(isinstance(choice, str | int | float) for choice in choices[:6]):
        text = " | ".join(str(choice) for choice in choices[:6]) + (" | …" if len(choices) > 6 else "")
    return text
