"""Views of verifications. The metadata of fields are keywords of JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from .checks import MAX_TOOLS, LoginKind, PackageStatus, RemoteStatus, VerifiedStatus
from .tools import TOOL_HINTS


@frozen
class FoundToolView:
    """A tool that a remote listed."""

    name: str = field(metadata={"description": "Name of the tool."})
    description: str = field(metadata={"description": "Description by the server itself; empty if it gives none."})
    hints: Mapping[str, bool] = field(
        factory=dict, metadata={"description": "Hints that the server gives, such as readOnlyHint."}
    )


_NUMBER = {"description": "Number of all such tools.", "minimum": 0}


@frozen
class ToolChangeView:
    """A change of the tools that a remote lists."""

    at: str = field(metadata={"description": "Time of the check that found it (RFC 3339).", "format": "date-time"})
    added: Sequence[str] = field(metadata={"description": "Names of new tools, the first of them."})
    removed: Sequence[str] = field(metadata={"description": "Names of tools that are gone, the first of them."})
    changed: Mapping[str, Sequence[str]] = field(
        metadata={"description": "What has changed of tools, by name: title, description, input, output or hints."}
    )
    added_count: int = field(metadata=_NUMBER)
    removed_count: int = field(metadata=_NUMBER)
    changed_count: int = field(metadata=_NUMBER)
    may_delete: int = field(
        metadata={"description": "Number of tools that may delete since then, by their hints.", "minimum": 0}
    )


@frozen
class RemoteView:
    """The latest check of a remote."""

    url: str = field(metadata={"description": "URL, as in remotes."})
    transport: str = field(metadata={"description": "Transport: streamable-http or sse."})
    status: str = field(
        metadata={"description": "What the remote did.", "enum": [status.value for status in RemoteStatus]}
    )
    is_down: bool = field(metadata={"description": "Whether its checks have failed for days."})
    checked_at: str = field(metadata={"description": "Time of the check (RFC 3339).", "format": "date-time"})
    protocol_version: str = field(metadata={"description": "Version of MCP; empty if unknown."})
    login: str | None = field(
        metadata={
            "description": "Kind of login that it asks for; payment for 402; null for none.",
            "enum": [*(kind.value for kind in LoginKind), None],
        }
    )
    authorization_server: str = field(metadata={"description": "URL of its OAuth server; empty if it names none."})
    redirected_to: str = field(
        metadata={"description": "Target of a redirect to another host or port; empty for none."}
    )
    other_transport: str = field(
        metadata={"description": "Transport that it speaks if that is not the declared one; empty otherwise."}
    )
    latency: float | None = field(metadata={"description": "Seconds to the first answer; null if there was none."})
    detail: str = field(metadata={"description": "Explanation in one sentence; may be empty."})


@frozen
class PackageView:
    """The latest check of a package."""

    registry_type: str = field(metadata={"description": "Type of the package registry, as in packages."})
    identifier: str = field(metadata={"description": "Identifier, as in packages."})
    version: str = field(metadata={"description": "Version, as in packages; empty for none."})
    status: str = field(
        metadata={
            "description": "What its package registry says.",
            "enum": [status.value for status in PackageStatus],
        }
    )
    checked_at: str = field(metadata={"description": "Time of the check (RFC 3339).", "format": "date-time"})
    latest_version: str = field(metadata={"description": "Latest version; empty if unknown."})
    published_at: str | None = field(metadata={"description": "When the version was published; null if unknown."})
    deprecation: str = field(metadata={"description": "Why it is deprecated, by its publisher; empty if it is not."})
    names_server: bool | None = field(
        metadata={"description": "Whether the package names this entry as its server; null if unknown."}
    )
    released_at: str | None = field(metadata={"description": "When the latest version was published; null if unknown."})
    provenance: str = field(
        metadata={"description": "URL of the repository that built it, as its registry attests; empty if unknown."}
    )
    detail: str = field(metadata={"description": "Explanation in one sentence; may be empty."})


@frozen
class VerificationView:
    """Checks of an entry by this directory. The lists are empty in search results."""

    status: str = field(
        metadata={
            "description": "Status of the best remote or package. unverified is not bad: nothing was checked.",
            "enum": [status.value for status in VerifiedStatus],
        }
    )
    checked_at: str | None = field(metadata={"description": "Time of the latest check (RFC 3339); null for never."})
    auth: str = field(metadata={"description": "How remotes authenticate: none, key or oauth; empty if unknown."})
    protocol_versions: Sequence[str] = field(metadata={"description": "Versions of MCP that its remotes speak."})
    package: str = field(metadata={"description": "Status of the best package; empty if none was checked."})
    names_server: bool | None = field(
        metadata={"description": "Whether that package names this entry as its server; null if unknown."}
    )
    tool_count: int = field(metadata={"description": "Number of tools that its remotes listed.", "minimum": 0})
    has_more_tools: bool = field(metadata={"description": "Whether its remotes have more tools than were counted."})
    tool_hints: Sequence[str] = field(
        default=(),
        metadata={
            "description": "What the hints of all its tools say: read-only, may-delete or no-hints; empty if unknown.",
            "items": {"type": "string", "enum": list(TOOL_HINTS)},
        },
    )
    tools: Sequence[FoundToolView] = field(
        default=(), metadata={"description": "The first tools that its remotes listed.", "maxItems": MAX_TOOLS}
    )
    tool_changes: Sequence[ToolChangeView] = field(
        default=(), metadata={"description": "The latest changes of its remotes' tools, of each the last one first."}
    )
    remotes: Sequence[RemoteView] = field(default=(), metadata={"description": "Checks of its remotes."})
    packages: Sequence[PackageView] = field(default=(), metadata={"description": "Checks of its packages."})
