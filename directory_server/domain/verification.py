"""Results of checks: what a remote of an entry answered, and what a package registry says about a package."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256

from attrs import field, frozen

MAX_TOOLS = 100
"""Tools of one remote whose descriptions and schemas are kept. Of further ones only the names are."""

MAX_TOOL_NAMES = 10_000
"""Bytes of the names of tools of one remote that are stored and indexed, with a separator each."""

MAX_SCHEMA = 8_192
"""Bytes of the JSON of a tool's input schema. A longer schema is dropped, and the tool is kept without it."""

MAX_SUMMARY, MAX_README = 300, 2_000
"""Characters of the summary, and of the prose of the README, of a package that are kept."""

MAX_KEYWORDS, MAX_KEYWORD = 20, 40
"""Keywords of a package that are kept, and the characters of one."""


class RemoteStatus(StrEnum):
    """Result of opening an MCP session with a remote. The texts are part of the public API."""

    WORKS = "works"
    NEEDS_LOGIN = "needs_login"
    MOVED = "moved"
    """It redirects to another host or port, which a check does not follow and clients do."""
    BUSY = "busy"
    """It answered 429. That says nothing about it, so the result before stays."""
    NOT_MCP = "not_mcp"
    UNREACHABLE = "unreachable"
    TLS_ERROR = "tls_error"
    REFUSES_ROBOTS = "refuses_robots"
    NOT_ALLOWED = "not_allowed"
    """Its address is private, or is not one that the operator allows. No connection was made."""
    NOT_CHECKABLE = "not_checkable"
    """Its URL has variables that a client's user fills in, or is no http(s) URL."""


class LoginKind(StrEnum):
    """Credential that a remote asks for."""

    UNKNOWN = "unknown"
    KEY = "key"
    OAUTH = "oauth"
    PAYMENT = "payment"
    """It answered 402."""


class PackageStatus(StrEnum):
    """State of a package and its version in a package registry. The texts are part of the public API."""

    EXISTS = "exists"
    MISSING = "missing"
    VERSION_MISSING = "version_missing"
    DEPRECATED = "deprecated"
    """Deprecated by its publisher, or withdrawn ("yanked")."""
    UNREACHABLE = "unreachable"
    NOT_CHECKABLE = "not_checkable"
    """Its package registry is none of npm, PyPI, OCI and NuGet, or its identifier is invalid."""


class VerifiedStatus(StrEnum):
    """Status of an entry, that of the best of its remotes and packages. The texts are part of the public API."""

    WORKS = "works"
    """A remote opened a session and listed its tools."""
    NEEDS_LOGIN = "needs_login"
    """A remote answered that it needs a login."""
    AVAILABLE = "available"
    """The package exists in its registry. It was not run."""
    FAILING = "failing"
    """The latest check failed, but not for long enough to count as down."""
    DOWN = "down"
    """Checks have failed for days."""
    UNVERIFIED = "unverified"
    """Nothing was checked, or the checks say nothing."""


@frozen
class FoundTool:
    """A tool that a remote listed. Its texts are cleaned and bounded.

    `input_schema` is compact JSON of at most MAX_SCHEMA bytes, "" if the remote gave none or a longer one. `hints` are
    those of `tools.HINTS` that it gave, `takes` the parameters on one line.
    """

    name: str
    description: str = ""
    input_schema: str = ""
    title: str = ""
    hints: Mapping[str, bool] = field(factory=dict)
    takes: str = ""


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
    `detail` is one cleaned sentence for an operator.
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


@frozen
class PackageTexts:
    """Texts of a package's document, cleaned and bounded, each on one line. Of the README only the prose is kept."""

    summary: str = ""
    keywords: tuple[str, ...] = ()
    readme: str = ""

    @property
    def id(self) -> str:
        """The digest of all texts, empty if there is none."""
        fields = (self.summary, *self.keywords, "", self.readme)
        return sha256("\0".join(fields).encode()).hexdigest()[:32] if any(fields) else ""


@frozen
class PackageCheck:
    """The result of one check of a package. Times are seconds since the epoch.

    `published_at` is of the entry's version. `deprecation` is the publisher's cleaned text. `names_server` says whether
    the package names the entry as its server, as the official registry requires; it is None if this is unknown.
    `texts` are None if its document was not read.
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
