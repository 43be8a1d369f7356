"""Ports of verification: checks of remotes and packages, and the storage of their results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from attrs import frozen

from ..targets import Check, Policy, Target, TargetKind, TargetState
from ..verification import PackageCheck, RemoteCheck
from ..verified import Verification


class RemoteProber(Protocol):
    """Checks remotes."""

    async def check(self, url: str, transport: str, headers_needed: bool) -> RemoteCheck:
        """Open an MCP session with the remote at `url`, list its tools and return the result.

        `transport` is "streamable-http" or "sse". `headers_needed` says that the entry declares required headers.
        Raises nothing for what a remote does.
        """


class PackageChecker(Protocol):
    """Checks packages in their registries."""

    async def check(self, registry_type: str, identifier: str, version: str, server_name: str) -> PackageCheck:
        """Return what the package registry says about a package. Raises nothing for what a registry does."""


@frozen
class Plan:
    """Progress of deriving targets from the change log: up to `seq`, with the name patterns `selection`."""

    seq: int = 0
    selection: str = ""


@frozen
class Summary:
    """The verification of an entry. A summary that is written later has a greater `revision`."""

    revision: int
    mcp_id: str
    verification: Verification


class Verifications(Protocol):
    """Targets of all entries, their due times, leases and states, and the summary of each entry.

    Times are seconds since the epoch; the clock is the adapter's, the same for all processes.
    """

    async def plan(self) -> Plan:
        """Return how far the targets have been derived."""

    async def hold(self, holder: str, *, seconds: float) -> bool:
        """Acquire or renew the lease to derive targets; return False if another holder has it."""

    async def put_targets(self, targets: Mapping[str, Sequence[Target]], plan: Plan | None = None) -> None:
        """Replace the targets of the entries whose `mcp_id` is in `targets` and store the `plan`.

        The state of a target that stays is kept. A new target is due at once.
        """

    async def claim(
        self, holder: str, limit: int, *, seconds: float, kinds: Collection[TargetKind], except_hosts: Collection[str]
    ) -> Sequence[Target]:
        """Lease at most `limit` due targets to `holder` for `seconds`, the longest due first; return them.

        They have different hosts, none of `except_hosts`, and are leased to no other holder.
        """

    async def record(self, target: Target, check: Check, policy: Policy, *, spread: float = 1.0) -> bool:
        """Store a check of `target` and release its lease; `spread` multiplies the time until the next check.

        Return whether the part that is indexed of the entry has changed. The change log then has a change of the entry,
        if it is visible. A check of an unknown target is ignored.
        """

    async def release(self, holder: str) -> None:
        """Release all leases of `holder`."""

    async def states(self, mcp_id: str) -> Sequence[TargetState]:
        """Return the targets of an entry, remotes first, and what is known of each."""

    async def forget(self, names: Collection[str] | None = None) -> int:
        """Delete the results of the entries `names`, or all results; return the number of entries that had any.

        Their targets are due at once.
        """

    async def due(self, kinds: Collection[TargetKind]) -> int:
        """Return the number of targets that are due."""

    async def summaries(self, after: int, limit: int) -> Sequence[Summary]:
        """Return at most `limit` summaries with a revision above `after`, in that order."""
