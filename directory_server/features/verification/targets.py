"""Targets: the remotes and packages of an entry that are checked, and what is known of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve, frozen

from ...domain.checks import ABSENT, PackageStatus, RemoteStatus
from ...domain.entries import Entry, is_storable
from .results import MAX_CHANGES, RISK, PackageCheck, RemoteCheck, ToolChange, bounded_tools, may_delete, tool_change
from .settings import VerifyConfig

MAX_TARGETS = 10
"""Remotes, and packages, of one entry that are checked. Real entries have at most 30, nearly all at most 3."""

MAX_TEXT = 2_000
"""Characters of a URL or an identifier. A longer one is not checked."""

MIN_FAILURES = 3
"""Failed checks in sequence after which a target may count as down."""

MIN_BUSY = 3_600.0
"""Seconds after which a busy remote is checked again at the earliest, so that no remote asks for many checks."""

LAG = 600.0
"""Seconds after which a package that is not there is checked again: its registry may need minutes to show a new one."""

PACKAGE_HOSTS: Mapping[str, str] = {
    "npm": "registry.npmjs.org",
    "pypi": "pypi.org",
    "nuget": "api.nuget.org",
    "mcpb": "",
}
"""The hosts of package registries. The host of an OCI image is in its identifier."""


class TargetKind(StrEnum):
    """Kind of a target."""

    REMOTE = "remote"
    PACKAGE = "package"


@frozen
class Target:
    """A remote or a package of the entry `name`.

    `type` is the transport of a remote, or the registry type of a package. `identifier` is the URL of a remote, or the
    identifier of a package, and `version` that of a package. `headers_needed` says that the entry declares required
    headers for the remote.
    """

    name: str
    kind: TargetKind
    type: str
    identifier: str
    version: str = ""
    headers_needed: bool = False

    @property
    def id(self) -> str:
        """The digest of all fields."""
        fields = (self.name, self.kind, self.type, self.identifier, self.version, str(self.headers_needed))
        return sha256("\0".join(fields).encode()).hexdigest()[:32]

    @property
    def host(self) -> str:
        """The host that a check of this target connects to; it bounds the checks per host."""
        if self.kind is TargetKind.PACKAGE:
            first, slash, _ = self.identifier.partition("/")
            oci = first if slash and "." in first else "docker.io"
            return oci if self.type == "oci" else PACKAGE_HOSTS.get(self.type, self.type)
        try:
            return (urlsplit(self.identifier).hostname or "")[:253]
        except ValueError:
            return ""


@frozen
class PastCheck:
    """An earlier check of a target: its time in seconds since the epoch, its status, and the seconds it took."""

    at: float
    status: str
    latency: float | None = None


Check = RemoteCheck | PackageCheck


@frozen
class TargetState:
    """State of a target.

    `check` is the latest check, `good` the latest one of a remote that worked, whose tools are shown while later checks
    fail. `failures` counts the failed checks since the last success, the first of which was at `failing_since` (seconds
    since the epoch). `history` has the latest checks, the last one first. `texts` identifies the texts of the package's
    latest document; it is empty if there are none, and for a package that is down. `known_tools` are the digests of the
    tools of a remote when it last listed them, by name; None before that. `tool_changes` are the latest ones, the last
    one first.
    """

    target: Target
    check: Check | None = None
    good: RemoteCheck | None = None
    failures: int = 0
    failing_since: float | None = None
    is_down: bool = False
    history: tuple[PastCheck, ...] = ()
    texts: str = ""
    known_tools: Mapping[str, str] | None = None
    tool_changes: tuple[ToolChange, ...] = ()

    def after(self, check: Check, settings: VerifyConfig) -> TargetState:
        latency = check.latency if isinstance(check, RemoteCheck) else None
        past = (PastCheck(check.checked_at, check.status, latency), *self.history)[: settings.history]
        good = check if isinstance(check, RemoteCheck) and check.status is RemoteStatus.WORKS else self.good
        texts = check.texts.id if isinstance(check, PackageCheck) and check.texts is not None else self.texts
        state = _with_tools(evolve(self, check=check, good=good, history=past, texts=texts), check)
        if self.check is not None and check.status is RemoteStatus.BUSY:
            return evolve(self, history=past)
        outcome = is_failure(check)
        if outcome is None:
            return state
        if not outcome:
            return evolve(state, failures=0, failing_since=None, is_down=False)
        since = check.checked_at if self.failing_since is None else min(self.failing_since, check.checked_at)
        failures = self.failures + 1
        is_down = failures >= MIN_FAILURES and check.checked_at - since >= settings.down_after
        state = evolve(state, failures=failures, failing_since=since, is_down=is_down)
        # A remote that has been down may have other tools when it comes back.
        return evolve(state, good=None, texts="") if is_down else state


def _with_tools(state: TargetState, check: Check) -> TargetState:
    """Return `state` with the tools of `check` as the known ones, and their change."""
    if not isinstance(check, RemoteCheck) or not check.has_listed_tools:
        return state
    tools = bounded_tools(check.tools)
    known = {tool.name: f"{tool.digest}{RISK if may_delete(tool.hints) else ''}" for tool in tools}
    before = state.known_tools
    is_whole = len(tools) == len(check.tools) and not check.has_more_tools
    change = None if before is None else tool_change(before, known, check.checked_at, is_whole=is_whole)
    changes = state.tool_changes if change is None else (change, *state.tool_changes)[:MAX_CHANGES]
    return evolve(state, known_tools=known, tool_changes=changes)


def wait_of(state: TargetState, check: Check, settings: VerifyConfig) -> float:
    """Return the seconds from `check` to the next one of the same target, which is in `state` after it.

    A busy remote is checked again after the time that it asks for, from MIN_BUSY to the usual interval, and a package
    that is not there for the first time soon.
    """
    interval = settings.remotes_interval if state.target.kind is TargetKind.REMOTE else settings.packages_interval
    if isinstance(check, RemoteCheck) and check.status is RemoteStatus.BUSY:
        return min(max(check.retry_after or settings.retry, MIN_BUSY), interval)
    if is_absent(check) and state.failures == 1:
        return LAG
    is_open = state.check is not None and is_failure(state.check) is not False
    # What is down for days is checked as often as what works.
    is_failing = state.failures > 0 and not state.is_down
    is_unreachable = isinstance(state.check, PackageCheck) and state.check.status is PackageStatus.UNREACHABLE
    return min(settings.retry, interval) if is_open and (is_failing or is_unreachable) else interval


_SUCCESSES = frozenset(
    {
        RemoteStatus.WORKS,
        RemoteStatus.NEEDS_LOGIN,
        RemoteStatus.MOVED,
        PackageStatus.EXISTS,
        PackageStatus.DEPRECATED,
    }
)

_FAILURES = frozenset(
    {
        RemoteStatus.NOT_MCP,
        RemoteStatus.UNREACHABLE,
        RemoteStatus.TLS_ERROR,
        *ABSENT,
    }
)


def is_failure(check: Check) -> bool | None:
    """Return whether a check failed, None if it says nothing about the target.

    A package registry that is unreachable says nothing about the package.
    """
    if isinstance(check, PackageCheck) and check.status is PackageStatus.UNREACHABLE:
        return None
    return True if check.status in _FAILURES else False if check.status in _SUCCESSES else None


def is_absent(check: Check | None) -> bool:
    """Return whether a package registry does not have the package."""
    return isinstance(check, PackageCheck) and check.status in ABSENT


def targets_of(entry: Entry) -> Sequence[Target]:
    """Return the remotes and packages of `entry` that can be checked, each once and at most MAX_TARGETS of each."""
    remotes = dict.fromkeys(_remotes(entry))
    packages = dict.fromkeys(_packages(entry))
    return (*list(remotes)[:MAX_TARGETS], *list(packages)[:MAX_TARGETS])


def _remotes(entry: Entry) -> Iterator[Target]:
    for remote in entry.remotes:
        url, transport = _text(remote.get("url")), _text(remote.get("type"))
        if url and transport in ("streamable-http", "sse"):
            declared = remote.get("headers")
            headers = [each for each in declared if isinstance(each, dict)] if isinstance(declared, list) else []
            needed = any(header.get("isRequired") is True for header in headers)
            yield Target(entry.name, TargetKind.REMOTE, transport, url, headers_needed=needed)


def _packages(entry: Entry) -> Iterator[Target]:
    for package in entry.packages:
        kind, identifier = _text(package.get("registryType")), _text(package.get("identifier"))
        if kind and len(kind) <= 20 and identifier:
            yield Target(entry.name, TargetKind.PACKAGE, kind, identifier, _text(package.get("version")))


def _text(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= MAX_TEXT and is_storable(value) else ""
