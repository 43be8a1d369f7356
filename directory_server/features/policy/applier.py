"""Applier: compares all entries with the rules, once after the rules or the software have changed."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from secrets import token_hex

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ... import wording
from ...domain.errors import Unavailable
from ...domain.policy import PolicyRules
from ...domain.ports.storage import Mirrors
from ...feature import Host, Running
from ...search import TextAnalysis
from ...timers import Timer
from .settings import PolicyConfig
from .tables import RuledNames

INTERVAL = 30.0
"""Seconds between two attempts, while another process applies the rules or the storage is unavailable."""

LEASE, LEASE_NAME = 60.0, "rules of the policy"
"""Seconds for which a process may apply the rules without renewing its lease, and the name of the lease."""

BATCH = 100
"""Names of a transaction."""


def digest_of(rules: PolicyRules) -> str:
    """Return a digest of `rules` and of the version of what they read, empty without rules."""
    text = repr((rules.require, rules.hide, TextAnalysis().version))
    return sha256(text.encode()).hexdigest()[:32] if rules else ""


@define
class Applier:
    """Compares all entries with `rules`, in one process at a time. `holder` identifies the process.

    New entries and changes are compared where they are stored. `announce` tells other processes of changes.
    """

    _rules: PolicyRules
    _names: RuledNames
    _leases: Mirrors
    _announce: Callable[[], None]
    _holder: str
    _is_done: bool = field(default=False, init=False)

    _log = Logger()

    async def update(self) -> None:
        """Compare all entries, unless they were compared with these rules or another process does."""
        if self._is_done:
            return
        try:
            digest = digest_of(self._rules)
            if await self._names.applied() != digest:
                if not await self._hold():
                    return
                await self._apply()
                await self._names.put_applied(digest)
                await self.release()
            self._is_done = True
        except Unavailable as error:
            self._log.warn("The rules of the policy cannot be applied now: {reason}", reason=error.message)

    async def release(self) -> None:
        """Release the lease, so that another process continues at once."""
        try:
            await self._leases.release(LEASE_NAME, self._holder)
        except Unavailable:
            self._log.debug("The lease of the policy ends by itself")

    async def _apply(self) -> None:
        after = ""
        while names := await self._names.names(after, BATCH):
            await self._names.apply(names)
            self._announce()
            await self._hold()
            after = names[-1]
        counts = await self._names.counts()
        hidden = wording.entries(sum(counts.values()))
        self._log.info("The rules of the policy hide {hidden}", hidden=hidden, rules=dict(counts))

    async def _hold(self) -> bool:
        return await self._leases.hold(LEASE_NAME, self._holder, seconds=LEASE)


class PolicyService(Timer):
    """Applies the rules; releases its lease at the end."""

    def __init__(self, applier: Applier, clock: IReactorTime) -> None:
        super().__init__(INTERVAL, applier.update, clock, finish=applier.release)


def running(host: Host) -> Running:
    """Return the service. Without rules, it shows what earlier rules have hidden."""
    applier = Applier(
        rules=host.config.of(PolicyConfig).rules,
        names=RuledNames(host.storage.background_tables, [upstream.name for upstream in host.config.upstream]),
        leases=host.storage.mirrors,
        announce=host.bus.announce,
        holder=token_hex(8),
    )
    return Running(services=[PolicyService(applier, host.reactor)])
