"""What checks of entries can find: statuses, and the part of their results that the index and the APIs use."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256

from attrs import frozen

from .tools import OfferedTool

MAX_TOOLS = 100
"""Tools of one remote whose descriptions and schemas are kept. Of further ones only the names are."""

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


ABSENT = frozenset({PackageStatus.MISSING, PackageStatus.VERSION_MISSING})
"""A package registry does not have the package, or the version."""


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
class IndexedVerification:
    """The part of a verification that the search index and the change feed use: it changes less often than checks."""

    status: VerifiedStatus
    auth: str = ""
    package: str = ""
    tools: tuple[OfferedTool, ...] = ()
    """The tools that remotes listed. Those after MAX_TOOLS have a name only."""
    names_server: bool = False
    """Whether the best package names the entry as its server."""
    texts: str = ""
    """Identifies the stored texts of the best package that has any."""
    hinted: tuple[str, ...] = ()
    """The values of the filter `tools`, by the hints of all tools that remotes listed."""
    marks: tuple[tuple[str, str, str], ...] = ()
    """The marks of tools: the name of the tool, the kind, and the id of the mark."""


def refined_auth(declared: str, shown: str) -> str:
    """Return how a client authenticates, from what an entry declares or says and what its remotes have shown.

    A remote that lists its tools without a login may need one for calls: it is believed only if the entry says nothing.
    """
    return shown if shown and (declared == "unknown" or (declared == "none" and shown != "none")) else declared
