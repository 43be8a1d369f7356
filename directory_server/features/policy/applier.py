"""Applier: compares all entries with the rules, once after the rules or the software have changed."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from attrs import define, field
from twisted.logger import Logger

from ... import wording
from ...domain.policy import PolicyRules
from ...feature import Host, Running
from ...search import TextAnalysis
from ...timers import Lease, LeasedTimer
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
    """Compares all entries with `rules`, in the process that holds `lease`.

    New entries and changes are compared where they are stored. `announce` tells other processes of changes.
    """

    _rules: PolicyRules
    _names: RuledNames
    _lease: Lease
    _announce: Callable[[], None]
    _is_done: bool = field(default=False, init=False)

    _log = Logger()

    async def update(self) -> None:
        """Compare all entries, unless they were compared with these rules or another process does."""
        if self._is_done:
            return
        digest = digest_of(self._rules)
        if await self._names.applied() != digest:
            if not await self._lease.hold():
                return
            await self._apply()
            await self._names.put_applied(digest)
            await self._lease.release()
        self._is_done = True

    async def _apply(self) -> None:
        after = ""
        while names := await self._names.names(after, BATCH):
            await self._names.apply(names)
            self._announce()
            await self._lease.hold()
            after = names[-1]
        counts = await self._names.counts()
        hidden = wording.entries(sum(counts.values()))
        self._log.info("The rules of the policy hide {hidden}", hidden=hidden, rules=dict(counts))


def running(host: Host) -> Running:
    """Return the service. Without rules, it shows what earlier rules have hidden."""
    lease = Lease(host.storage.mirrors, LEASE_NAME, LEASE)
    applier = Applier(
        rules=host.config.of(PolicyConfig).rules,
        names=RuledNames.of(host.storage.background_tables, host.config),
        lease=lease,
        announce=host.bus.announce,
    )
    return Running(services=[LeasedTimer(INTERVAL, applier.update, host.reactor, lease)])
