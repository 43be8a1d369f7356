"""Tools that servers offer: their texts are cleaned and bounded, their parameters named with types."""

from __future__ import annotations

from typing import Any

import pytest

from directory_server.domain.tools import MAX_LINE, MAX_NAME, MAX_TAKES, OfferedTool, first_line, offered_tool, takes_of
from directory_server.serialization import restore_indexed


@pytest.mark.parametrize(
    "tool", [{}, {"name": 7}, {"name": ""}, {"name": "\u200b"}, {"name": None, "description": "text"}]
)
def test_a_tool_without_a_name_is_none(tool: dict[str, Any]) -> None:
    assert offered_tool(tool) is None


@pytest.mark.parametrize(
    "member",
    [
        {"inputSchema": 7},
        {"inputSchema": {"properties": [1], "required": 7}},
        {"inputSchema": {"properties": {"a": 1, "b": {"type": [1, None]}}}},
        {"annotations": "x"},
        {"annotations": {"readOnlyHint": "yes"}},
        {"title": 7, "description": ["x"]},
    ],
)
def test_members_of_the_wrong_type_are_dropped(member: dict[str, Any]) -> None:
    found = offered_tool({"name": "a", **member})
    assert found is not None
    assert (found.title, found.description, found.hints) == ("", "", {})


def test_texts_of_tools_are_cleaned_and_bounded() -> None:
    long = "\u202eword\n\0" * 50_000
    properties = {f"{long}{n}": {"type": long, "enum": [long] * 9} for n in range(50)}
    found = offered_tool({"name": long, "title": long, "description": long, "inputSchema": {"properties": properties}})
    assert found is not None
    for text in (found.name, found.title, found.description, found.takes):
        assert text.isprintable()
        assert "\u202e" not in text
    assert (len(found.name), len(found.title), len(found.takes)) == (MAX_NAME, MAX_NAME, MAX_TAKES)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Short.", "Short."),
        ("Reads a file from the disk. " + "More words follow here. " * 9, "Reads a file from the disk."),
        ("word " * 60, " ".join(["word"] * 23) + "…"),
        ("x" * 300, "x" * (MAX_LINE - 1) + "…"),
    ],
)
def test_the_line_of_a_tool_ends_with_a_sentence_or_a_word(text: str, line: str) -> None:
    found = first_line(text)
    assert len(found) <= MAX_LINE
    assert text.startswith(found.rstrip("…"))
    assert found.endswith((".", "…"))
    assert found.startswith(line)


def test_parameters_are_named_with_their_types() -> None:
    schema = {
        "properties": {"unit": {"enum": ["c", "f"]}, "city": {"type": "string"}, "any": {}},
        "required": ["city", 7],
    }
    assert takes_of(schema) == "unit?: c | f, city: string, any?: any"


def test_tools_stored_before_they_had_titles_are_read() -> None:
    found = restore_indexed(b'{"status":"works","auth":"none","package":"","tools":[["a","Does a."],["b",""]]}')
    assert found.tools == (OfferedTool("a", description="Does a."), OfferedTool("b"))
