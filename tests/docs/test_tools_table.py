"""Compare the tools of the MCP endpoint with docs/protocol.md and with the instructions for models."""

from __future__ import annotations

import re

from directory_server.serialization import argument_schemas

from ._examples import ROOT


def test_the_table_of_tools_has_their_arguments() -> None:
    from directory_server.web.mcp._tools import tool_set

    _, _, text = (ROOT / "docs" / "protocol.md").read_text("utf-8").partition("\n### Tools\n")
    rows = re.findall(r"^\| (?:`(\w+)`)? ?\| `(\w+)` \|", text.partition("\n\n```")[0], re.MULTILINE)
    shown: dict[str, list[str]] = {}
    for tool, argument in rows:
        name = tool or next(reversed(shown))
        shown.setdefault(name, []).append(argument)
    assert shown == {
        name: list(argument_schemas(tool.arguments)) for name, tool in tool_set(search_tools=True).by_name.items()
    }, "docs/protocol.md, section Tools"


def test_the_instructions_name_every_tool() -> None:
    from directory_server.web.mcp._tools import tool_set

    for offers_search in (False, True):
        tools = tool_set(search_tools=offers_search)
        assert [name for name in tools.by_name if name not in tools.instructions] == []
        assert ("search_tools" in tools.instructions) == offers_search
