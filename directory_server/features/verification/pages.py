"""Checks of entries on pages: summaries in lists, a section of an entry's page. Texts are sanitized and bounded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice

from attrs import field, frozen

from ... import serialization
from ...domain.check_views import ToolChangeView
from ...domain.checks import VerifiedStatus
from ...domain.errors import BadInput
from ...domain.marks import MAX_MARKS, WITHHELD, is_withheld
from ...domain.views import Detail
from ...sanitize import clean
from ...web.pages import EntryPart, plain
from .results import FoundTool, PackageCheck, RemoteCheck
from .summaries import found_tools
from .targets import TargetState
from .tool_changes import may_delete
from .verified_entries import VerifiedEntries

MAX_TOOLS = 40
"""Tools on the page."""

MAX_SCHEMAS = 60_000
"""Characters of input schemas on the page."""


@frozen
class CheckedTarget:
    """A remote or package: its kind, its name, the key of the text of its status, keys of other texts, and details."""

    kind: str
    name: str
    status: str
    keys: Sequence[str]
    details: Sequence[str]


@frozen
class CheckedTool:
    """A tool that the server listed; `schema` is empty if it is unknown or too long."""

    name: str
    description: str
    schema: str
    hints: Sequence[str] = ()


@frozen
class ChecksView:
    """The section of an entry's page."""

    status: str
    targets: Sequence[CheckedTarget] = ()
    tools: Sequence[CheckedTool] = ()
    more_tools: int = 0
    changes: Sequence[ToolChangeView] = ()


@frozen
class EntryChecks:
    """Checks of entries for pages. `is_on` is whether the server checks."""

    _verified: VerifiedEntries
    _is_on: bool

    def part(self) -> EntryPart:
        """Return what pages show of checks."""
        return EntryPart("verification/section.html", self.view, self._verified.views, self.filters)

    def filters(self) -> Collection[str]:
        """Return the filter of the status if this server, or another one with the same storage, has checked entries."""
        return ("status",) if self._is_on or any(self._verified.counts.values()) else ()

    async def view(self, detail: Detail) -> ChecksView | None:
        """Return the section of an entry's page; None if nothing was checked and this server does not check."""
        summary = self._verified.get(detail.mcp_id)
        is_checked = summary.status is not VerifiedStatus.UNVERIFIED and summary.checked_at is not None
        if not is_checked and not (self._is_on and (detail.remotes or detail.packages)):
            return None
        states = await self._verified.states(detail.mcp_id)
        tools = found_tools(states)
        schemas, marked = _Schemas(), {mark.id for mark in detail.marks if is_withheld(mark.kind)}
        if len(detail.marks) == 2 * MAX_MARKS:
            # Some marks are not listed.
            marked |= {mark.id for tool in tools for mark in tool.marks if is_withheld(mark.kind)}
        return ChecksView(
            status=summary.status.value,
            targets=[each for state in states for each in _targets(state)],
            tools=[CheckedTool(*_texts(tool, marked, schemas), _hints(tool)) for tool in islice(tools, MAX_TOOLS)],
            changes=() if detail.verification is None else detail.verification.tool_changes,
            more_tools=max(0, summary.tools - MAX_TOOLS),
        )


@frozen
class _Schemas:
    """Input schemas as indented texts of at most MAX_SCHEMAS characters together."""

    _left: list[int] = field(factory=lambda: [MAX_SCHEMAS], init=False)

    def text(self, schema: str) -> str:
        """Return `schema`, JSON, as text; empty if it is not valid or does not fit."""
        try:
            text = clean(serialization.pretty(serialization.decode(schema.encode()))) if schema else ""
        except (BadInput, UnicodeEncodeError):
            return ""
        if len(text) > self._left[0]:
            return ""
        self._left[0] -= len(text)
        return text


def _texts(tool: FoundTool, marked: Collection[str], schemas: _Schemas) -> tuple[str, str, str]:
    """Return the name, description and schema of a tool, without those that are withheld."""
    if any(mark.id in marked for mark in tool.marks):
        return plain(tool.name, 60), WITHHELD, ""
    return plain(tool.name, 60), plain(tool.description, 300), schemas.text(tool.input_schema)


def _hints(tool: FoundTool) -> Sequence[str]:
    return ["may_delete"] if may_delete(tool.hints) else ["read_only"] if tool.hints.get("readOnlyHint") else []


def _targets(state: TargetState) -> Sequence[CheckedTarget]:
    match state.check:
        case RemoteCheck() as check:
            seconds = [] if check.latency is None else [f"{check.latency:.2f} s"]
            version = [f"MCP {plain(check.protocol_version, 30)}"] if check.protocol_version else []
            others = [plain(each, 200) for each in (check.authorization_server, check.redirected_to) if each]
            login = [] if check.login is None else [f"verification.login_{check.login}"]
            down = ["status.down"] if state.is_down else []
            other = ["verification.other_transport"] if check.other_transport else []
            status = f"verification.remote_{check.status}"
            return [
                CheckedTarget(
                    "remote", plain(check.url, 300), status, login + other + down, [*version, *seconds, *others]
                )
            ]
        case PackageCheck() as check:
            name = plain(f"{check.identifier} {check.version}".strip(), 200)
            names = [] if check.names_server is None else [_NAMES[check.names_server]]
            details = [plain(check.deprecation, 200)] if check.deprecation else []
            status = f"verification.package_{check.status}"
            return [CheckedTarget("package", name, status, names, details)]
    return ()


_NAMES = {True: "verification.names_server", False: "verification.names_other"}
