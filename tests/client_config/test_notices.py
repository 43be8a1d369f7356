"""docs/protocol.md has the codes of notices."""

from __future__ import annotations

import re
from pathlib import Path

from directory_server.client_config import REASONS, WARNINGS

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"

_, _, _SECTION = PROTOCOL.read_text("utf-8").partition("\n#### Installations\n")
_REASONS, _, _REST = _SECTION.partition("| `unavailable.code` otherwise |\n")[2].partition("| `warnings[].code` |")


def codes(lines: str, column: int) -> set[str]:
    """Return the codes in a column of the table in `lines`, and in the text below it."""
    cells = [line.split(" | ")[column] if line.startswith("| ") else line for line in lines.splitlines()]
    return set(re.findall(r"`(\w+)`", "\n".join(cells)))


def test_the_protocol_has_the_reasons() -> None:
    assert codes(_REASONS, -1) == set(REASONS)


def test_the_protocol_has_the_warnings() -> None:
    assert codes(_REST.partition("\n\n")[0], 0) == set(WARNINGS)
