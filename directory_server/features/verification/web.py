"""Checks on pages: of entries, with templates and texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from ... import serialization
from ...domain.check_views import FoundToolView
from ...domain.checks import VerifiedStatus
from ...domain.errors import BadInput
from ...domain.marks import WITHHELD
from ...domain.views import Detail
from ...texts.sanitize import clean
from ...web.pages import EntryPart
from .results import may_delete
from .summaries import found_tools
from .verified_entries import VerifiedEntries

MAX_TOOLS = 40
"""Tools on the page."""

MAX_SCHEMAS = 60_000
"""Characters of input schemas on the page."""


@frozen
class EntryChecks:
    """Checks of entries for pages. `is_on` is whether the server checks."""

    _verified: VerifiedEntries
    _is_on: bool

    def part(self) -> EntryPart:
        """Return what pages show of checks."""
        return EntryPart("verification/section.html", self.section, self._verified.views, self.filters)

    def filters(self) -> Collection[str]:
        """Return the filter of the status if this server, or another one with the same storage, has checked entries."""
        return ("status",) if self._is_on or any(self._verified.counts.values()) else ()

    async def section(self, detail: Detail) -> Mapping[str, Any] | None:
        """Return the values of the section; None if nothing was checked and this server does not check."""
        checks, status = detail.verification, VerifiedStatus.UNVERIFIED.value
        is_checked = checks is not None and checks.status != status and checks.checked_at is not None
        if not is_checked and not (self._is_on and (detail.remotes or detail.packages)):
            return None
        schemas = {tool.name: tool.input_schema for tool in found_tools(await self._verified.states(detail.mcp_id))}
        return {
            "status": checks.status if checks else status,
            "checks": checks,
            "tools": _tools(checks.tools[:MAX_TOOLS] if checks else (), schemas),
            "more_tools": max(0, checks.tool_count - MAX_TOOLS) if checks else 0,
        }


def _tools(tools: Sequence[FoundToolView], schemas: Mapping[str, str]) -> list[tuple[FoundToolView, str, str]]:
    """Return `tools`, each with its hint and the text of its input schema, of MAX_SCHEMAS characters together."""
    shown, left = [], MAX_SCHEMAS
    for tool in tools:
        text = "" if tool.description == WITHHELD else _indented(schemas.get(tool.name, ""))
        if len(text) > left:
            text = ""
        left -= len(text)
        hint = "may_delete" if may_delete(tool.hints) else "read_only" if tool.hints.get("readOnlyHint") else ""
        shown.append((tool, hint, text))
    return shown


def _indented(schema: str) -> str:
    """Return a schema as indented text; empty if it is not valid JSON."""
    try:
        return clean(serialization.pretty(serialization.decode(schema.encode()))) if schema else ""
    except (BadInput, UnicodeEncodeError):
        return ""
