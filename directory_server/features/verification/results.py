"""Results of checks: what a remote of an entry answered, and what a package registry says about a package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from ...domain.checks import LoginKind, PackageStatus, PackageTexts, RemoteStatus
from ...domain.marks import Mark

MAX_TOOL_NAMES = 10_000
"""Bytes of the names of tools of one remote that are stored and indexed, with a separator each."""

MAX_SCHEMA = 8_192
"""Bytes of the JSON of a tool's input schema. A longer schema is dropped, and the tool is kept without it."""


@frozen
class FoundTool:
    """A tool that a remote listed. Its texts are cleaned and bounded.

    `input_schema` is compact JSON of at most MAX_SCHEMA bytes, "" if the remote gave none or a longer one. `hints` are
    those of `tools.HINTS` that it gave, `takes` the parameters on one line. `digest` is that of `tool_changes`. `marks`
    are those of its texts as the remote sent them.
    """

    name: str
    description: str = ""
    input_schema: str = ""
    title: str = ""
    hints: Mapping[str, bool] = field(factory=dict)
    takes: str = ""
    digest: str = ""
    marks: tuple[Mark, ...] = ()


@frozen
class RemoteCheck:
    """The result of one check of a remote. Times are seconds since the epoch.

    `protocol_version`, `server_name` and `server_version` are what the remote says of itself. `login` is set for
    NEEDS_LOGIN; `authorization_server` is the URL of the OAuth server if the remote names one. `redirected_to` is the
    first target of a redirect to another host or port. `latency` is the seconds from the connection to the first
    answer.
    `tools` are those of `tools/list`, of which MAX_TOOLS have their texts. `tool_count` is their number;
    `has_more_tools` says that the list was not read to its end. `other_transport` is the transport that the remote
    speaks if that is not the declared one. `retry_after` is the seconds that a busy remote asks to wait, 0 for none.
    `has_listed_tools` is whether it has answered the request for its tools. `tools_digest` is that of the whole list,
    see `tool_changes.list_digest`. `detail` is one cleaned
    sentence for an operator.
    """

    url: str
    transport: str
    checked_at: float
    status: RemoteStatus
    protocol_version: str = ""
    server_name: str = ""
    server_version: str = ""
    login: LoginKind | None = None
    authorization_server: str = ""
    redirected_to: str = ""
    latency: float | None = None
    tools: tuple[FoundTool, ...] = ()
    has_more_tools: bool = False
    detail: str = ""
    tool_count: int = 0
    other_transport: str = ""
    retry_after: float = 0.0
    has_listed_tools: bool = False
    tools_digest: str = ""


@frozen
class PackageCheck:
    """The result of one check of a package. Times are seconds since the epoch.

    `published_at` is of the entry's version. `deprecation` is the publisher's cleaned text. `names_server` says whether
    the package names the entry as its server, as the official registry requires; it is None if this is unknown.
    `texts` are None if its document was not read. `released_at` is of the latest version. `provenance` is the URL of
    the repository that the registry has attested as the source of the version, empty if it has none.
    """

    registry_type: str
    identifier: str
    version: str
    checked_at: float
    status: PackageStatus
    latest_version: str = ""
    published_at: float | None = None
    deprecation: str = ""
    names_server: bool | None = None
    detail: str = ""
    texts: PackageTexts | None = None
    released_at: float | None = None
    provenance: str = ""


def bounded_tools(tools: Sequence[FoundTool]) -> Sequence[FoundTool]:
    """Return the first tools whose names have at most MAX_TOOL_NAMES bytes together."""
    names = 0
    for number, tool in enumerate(tools):
        names += len(tool.name.encode()) + 1
        if names > MAX_TOOL_NAMES:
            return tools[:number]
    return tools
