"""Verification of an entry: the summary of the latest checks of its remotes and packages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from attrs import frozen

from .targets import TargetState
from .verification import MAX_TOOLS, FoundTool, PackageCheck, PackageStatus, RemoteCheck, RemoteStatus

MAX_DESCRIPTION = 400
"""Characters of a tool's description that are indexed."""


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


_BEST_FIRST = tuple(VerifiedStatus)


@frozen
class Verification:
    """The summary of an entry's checks.

    `checked_at` is the time of the latest check in seconds since the epoch. `auth` is `none`, `key` or `oauth` if a
    remote has shown it, else empty. `tools` is the number of tools that remotes listed. `package` is the status of the
    best package, empty if none was checked. `names_server` says whether that package names this entry as its server.
    """

    status: VerifiedStatus = VerifiedStatus.UNVERIFIED
    checked_at: float | None = None
    auth: str = ""
    tools: int = 0
    protocol_versions: tuple[str, ...] = ()
    package: str = ""
    names_server: bool | None = None


UNVERIFIED = Verification()


@frozen
class IndexedVerification:
    """The part of a verification that the search index and the change feed use: it changes less often than checks."""

    status: VerifiedStatus
    auth: str = ""
    package: str = ""
    tools: tuple[tuple[str, str], ...] = ()
    """Names and descriptions of the tools."""


def summarize(states: Sequence[TargetState]) -> Verification:
    """Return the summary of the states of an entry's targets."""
    checks = [each.check for each in states if each.check is not None]
    remotes = [each for each in states if isinstance(each.check, RemoteCheck)]
    packages = [each.check for each in states if isinstance(each.check, PackageCheck)]
    versions = {version for each in remotes if (version := _shown(each).protocol_version)}
    package = min(packages, key=lambda each: _PACKAGES.index(each.status), default=None)
    return Verification(
        status=min((status_of(each) for each in states), key=_BEST_FIRST.index, default=VerifiedStatus.UNVERIFIED),
        checked_at=max((each.checked_at for each in checks), default=None),
        auth=_auth(remotes),
        tools=len(found_tools(states)),
        protocol_versions=tuple(sorted(versions)),
        package="" if package is None else package.status,
        names_server=None if package is None else package.names_server,
    )


def indexed(states: Sequence[TargetState]) -> IndexedVerification | None:
    """Return what the index holds of the states of an entry's targets, None if they say nothing."""
    summary = summarize(states)
    if summary.status is VerifiedStatus.UNVERIFIED and not summary.package:
        return None
    tools = tuple((each.name, each.description[:MAX_DESCRIPTION]) for each in found_tools(states))
    return IndexedVerification(summary.status, summary.auth, summary.package, tools)


def found_tools(states: Iterable[TargetState]) -> Sequence[FoundTool]:
    """Return the tools that remotes listed, each name once, at most MAX_TOOLS."""
    tools: dict[str, FoundTool] = {}
    for each in states:
        for tool in each.good.tools if each.good is not None else ():
            tools.setdefault(tool.name, tool)
    return list(tools.values())[:MAX_TOOLS]


_PACKAGES = (
    PackageStatus.EXISTS,
    PackageStatus.DEPRECATED,
    PackageStatus.VERSION_MISSING,
    PackageStatus.MISSING,
    PackageStatus.UNREACHABLE,
    PackageStatus.NOT_CHECKABLE,
)
"""Statuses of packages, the best first."""


def status_of(state: TargetState) -> VerifiedStatus:
    """Return the status of one target."""
    match state.check:
        case RemoteCheck(status=RemoteStatus.WORKS):
            return VerifiedStatus.WORKS
        case RemoteCheck(status=RemoteStatus.NEEDS_LOGIN):
            return VerifiedStatus.NEEDS_LOGIN
        case PackageCheck(status=PackageStatus.EXISTS | PackageStatus.DEPRECATED):
            return VerifiedStatus.AVAILABLE
    if state.failures:
        return VerifiedStatus.DOWN if state.is_down else VerifiedStatus.FAILING
    return VerifiedStatus.UNVERIFIED


def _shown(state: TargetState) -> RemoteCheck:
    """Return the check of a remote that is shown: the latest one that worked, else the latest one."""
    assert isinstance(state.check, RemoteCheck)
    return state.good or state.check


def _auth(remotes: Sequence[TargetState]) -> str:
    """Return how clients authenticate to the best remote, empty if that is unknown."""
    checks = [each.check for each in remotes if isinstance(each.check, RemoteCheck)]
    if any(each.status is RemoteStatus.WORKS for each in checks):
        return "none"
    logins = [each.login for each in checks if each.status is RemoteStatus.NEEDS_LOGIN and each.login is not None]
    return next((each.value for each in logins if each.value in ("key", "oauth")), "")
