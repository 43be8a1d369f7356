"""Applier: compares all entries with the rules, once after the rules or the software have changed."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from twisted.logger import Logger

from ...domain.changes import Change
from ...domain.policy import PolicyRules
from ...feature.server import SERVICES, Server
from ...runtime.follower import Follower
from ...search import TextAnalysis
from ...texts import wording
from .settings import PolicyConfig
from .tables import BATCH, RuledNames

INTERVAL = 30.0
"""Seconds between two looks for other rules, which a process with other settings may have applied."""

NAME = "rules of the policy"

_log = Logger()


def digest_of(rules: PolicyRules) -> str:
    """Return a digest of `rules` and of the version of what they read, empty without rules."""
    text = repr((rules.require, rules.hide, TextAnalysis().version))
    return sha256(text.encode()).hexdigest()[:32] if rules else ""


def applier(server: Server) -> Follower:
    """Return the service. New entries and changes are compared where they are stored."""
    rules, names = server.config.of(PolicyConfig).rules, RuledNames.of(server.storage.background_tables, server.config)

    async def apply(changes: Sequence[Change]) -> bool:
        for start in range(0, len(changes), BATCH):
            await names.apply([change.name for change in changes[start : start + BATCH]])
        return True

    async def complete() -> bool:
        counts = await names.counts()
        hidden = wording.entries(sum(counts.values()))
        _log.info("The rules of the policy hide {hidden}", hidden=hidden, rules=dict(counts))
        return False

    async def version() -> str:
        return digest_of(rules)

    return Follower(
        server.storage,
        server.reactor,
        server.bus.announce,
        NAME,
        apply,
        version=version,
        complete=complete,
        once=True,
        interval=INTERVAL,
    )


def run(server: Server) -> None:
    """Add the follower of the rules. Without rules, it shows what earlier rules have hidden."""
    server.add(SERVICES, applier(server))
