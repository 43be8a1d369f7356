"""Verification of an entry: the summary of the latest checks of its remotes and packages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from attrs import AttrsInstance, fields_dict, frozen

from ...domain.check_views import FoundToolView, PackageView, RemoteView, ToolChangeView, VerificationView
from ...domain.checks import MAX_TOOLS, IndexedVerification, PackageStatus, RemoteStatus, VerifiedStatus
from ...domain.limits import NAME
from ...domain.marks import WITHHELD, Mark, is_withheld
from ...domain.tools import MAX_DESCRIPTION, OfferedTool, hinted_values, line_of
from ...text_marks import scan
from ...texts.sanitize import clean_line
from .results import MAX_CHANGES, FoundTool, PackageCheck, RemoteCheck, ToolChange, bounded_tools
from .targets import TargetState, is_absent

T = TypeVar("T", bound=AttrsInstance)

_BEST_FIRST = tuple(VerifiedStatus)


@frozen
class Verification:
    """The summary of an entry's checks.

    `checked_at` is the time of the latest check in seconds since the epoch. `auth` is `none`, `key` or `oauth` if a
    remote has shown it, else empty. `tools` is the number of tools that remotes listed, a part of them with
    `has_more_tools`. `package` is the status of the
    best package, empty if none was checked. `names_server` says whether that package names this entry as its server.
    `hinted` are the values of the filter `tools`. `tools_digest` is that of the list of tools, empty if remotes differ.
    """

    status: VerifiedStatus = VerifiedStatus.UNVERIFIED
    checked_at: float | None = None
    auth: str = ""
    tools: int = 0
    protocol_versions: tuple[str, ...] = ()
    package: str = ""
    names_server: bool | None = None
    has_more_tools: bool = False
    hinted: tuple[str, ...] = ()
    tools_digest: str = ""


UNVERIFIED = Verification()


def summarize(states: Sequence[TargetState]) -> Verification:
    """Return the summary of the states of an entry's targets."""
    checks = [state.check for state in states if state.check is not None]
    remotes = [state for state in states if isinstance(state.check, RemoteCheck)]
    packages = [state.check for state in states if isinstance(state.check, PackageCheck)]
    versions = {version for remote in remotes if (version := _shown(remote).protocol_version)}
    listed = [state.good for state in states if state.good is not None]
    package = min(packages, key=lambda each: _PACKAGES.index(each.status), default=None)
    found, has_more = _named_tools(states), any(each.has_more_tools for each in listed)
    digests = {each.tools_digest for each in listed if each.has_listed_tools}
    count = max(len(found), *(each.tool_count for each in listed), 0)
    are_all = len(bounded_tools(found)) == count and not has_more
    return Verification(
        status=min((status_of(state) for state in states), key=_BEST_FIRST.index, default=VerifiedStatus.UNVERIFIED),
        checked_at=max((check.checked_at for check in checks), default=None),
        auth=_auth(remotes),
        tools=count,
        protocol_versions=tuple(sorted(versions)),
        package="" if package is None else package.status,
        names_server=None if package is None else package.names_server,
        has_more_tools=has_more,
        hinted=hinted_values([tool.hints for tool in bounded_tools(found)], are_all=are_all),
        tools_digest=digests.pop() if len(digests) == 1 else "",
    )


def absent_packages(states: Sequence[TargetState]) -> Sequence[str]:
    """Return the packages that their registries do not have: type, identifier and version.

    The first check may be before the publisher has uploaded the package.
    """
    absent = (state.target for state in states if is_absent(state.check) and state.failures > 1)
    return [clean_line(f"{target.type} {target.identifier} {target.version}", NAME) for target in absent]


def indexed(states: Sequence[TargetState]) -> IndexedVerification | None:
    """Return what the index holds of the states of an entry's targets, None if they say nothing."""
    summary = summarize(states)
    if summary.status is VerifiedStatus.UNVERIFIED and not summary.package:
        return None
    found = bounded_tools(_named_tools(states))
    tools = [*map(_offered, found[:MAX_TOOLS]), *(OfferedTool(tool.name) for tool in found[MAX_TOOLS:])]
    described = [
        (state.texts, state.check) for state in states if state.texts and isinstance(state.check, PackageCheck)
    ]
    texts, _ = min(described, key=lambda each: _PACKAGES.index(each[1].status), default=("", None))
    return IndexedVerification(
        status=summary.status,
        auth=summary.auth,
        package=summary.package,
        tools=tuple(tools),
        names_server=summary.names_server is True,
        texts=texts,
        hinted=summary.hinted,
        marks=tuple((tool.name, mark.kind, mark.id) for tool in found for mark in tool.marks),
    )


def _offered(tool: FoundTool) -> OfferedTool:
    description = line_of(tool.description, MAX_DESCRIPTION)
    return OfferedTool(tool.name, tool.title, description, tool.takes, tool.hints)


def found_tools(states: Iterable[TargetState]) -> Sequence[FoundTool]:
    """Return the tools that remotes listed, each name once, at most MAX_TOOLS."""
    return _named_tools(states)[:MAX_TOOLS]


def _named_tools(states: Iterable[TargetState]) -> Sequence[FoundTool]:
    """Return the stored tools that remotes listed, each name once; some have a name only."""
    tools: dict[str, FoundTool] = {}
    for state in states:
        for tool in state.good.tools if state.good is not None else ():
            tools.setdefault(tool.name, tool)
    return list(tools.values())


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
    checks = [remote.check for remote in remotes if isinstance(remote.check, RemoteCheck)]
    if any(check.status is RemoteStatus.WORKS for check in checks):
        return "none"
    logins = [check.login for check in checks if check.status is RemoteStatus.NEEDS_LOGIN and check.login is not None]
    return next((login.value for login in logins if login.value in ("key", "oauth")), "")


def open_marks(states: Iterable[TargetState], accepted: Collection[str]) -> Sequence[Mark]:
    """Return the marks of the tools that remotes listed, without the ids in `accepted`."""
    return [mark for tool in _named_tools(states) for mark in tool.marks if mark.id not in accepted]


def verification_view(
    summary: Verification, states: Sequence[TargetState] = (), accepted: Collection[str] = ()
) -> VerificationView:
    """Return the view of an entry's `summary`, with lists of the checks and tools in `states`.

    Texts with marks are withheld, except for those whose ids are in `accepted`.
    """
    marked = {mark.id for mark in open_marks(states, accepted) if is_withheld(mark.kind)}
    checks = [(each, each.check) for each in states]
    return _view(
        VerificationView,
        summary,
        tool_count=summary.tools,
        tool_hints=summary.hinted,
        tools=[_tool(each, marked) for each in found_tools(states)],
        tool_changes=[_change(each) for state in states for each in state.tool_changes][:MAX_CHANGES],
        remotes=[
            _view(RemoteView, check, is_down=state.is_down) for state, check in checks if isinstance(check, RemoteCheck)
        ],
        packages=[_view(PackageView, check) for _, check in checks if isinstance(check, PackageCheck)],
    )


def _view(cls: type[T], record: object, **others: Any) -> T:
    """Return the view `cls` of a record: `others`, and the fields of the record with the same names, times as dates."""
    own = {name: getattr(record, name) for name in fields_dict(cls) if name not in others}
    return cls(**{name: _date(value) if name.endswith("_at") else value for name, value in own.items()}, **others)


def _tool(tool: FoundTool, marked: Collection[str]) -> FoundToolView:
    is_marked = any(mark.id in marked for mark in tool.marks)
    return _view(FoundToolView, tool, **{"name": _shown_name(tool.name), "description": WITHHELD} if is_marked else {})


def _change(change: ToolChange) -> ToolChangeView:
    return _view(
        ToolChangeView,
        change,
        at=_date(change.at),
        added=[*map(_shown_name, change.added)],
        removed=[*map(_shown_name, change.removed)],
        changed={_shown_name(name): parts.split() for name, parts in change.changed.items()},
    )


def _shown_name(name: str) -> str:
    """Return the name of a tool as models may read it."""
    return WITHHELD if scan(name, ()) else name


def _date(moment: float | None) -> str | None:
    """Return `moment`, in seconds since the epoch, as an RFC 3339 date and time in UTC; None for none."""
    try:
        return None if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        # A package registry may state any year.
        return None
