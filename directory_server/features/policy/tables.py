"""The names that are compared with rules, numbers of hidden entries, and the dry run."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from hashlib import sha256

from attrs import define, field, frozen
from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from ...config import Config
from ...domain.changes import Change
from ...domain.policy import PolicyRules
from ...domain.ports.storage import Policy
from ...feature.server import SERVICES, Server
from ...search import EntryPolicy, TextAnalysis
from ...services.follower import Follower
from ...tables import Rows, Tables, apply_policy, names_hidden_by, transaction
from ...texts import wording
from .settings import PolicyConfig

_NAMES = "SELECT name FROM entry WHERE name > :after ORDER BY name LIMIT :limit"

_COUNTS = "SELECT rule, count(*) FROM entry WHERE rule <> '' GROUP BY rule"


@frozen
class RuledNames:
    """The names that rules hide. `sources` is the order of precedence. All methods raise Unavailable."""

    _tables: Tables
    _sources: Sequence[str]

    @classmethod
    def of(cls, tables: Tables, config: Config) -> RuledNames:
        return cls(tables, [upstream.name for upstream in config.upstream])

    async def names(self, after: str, limit: int) -> Sequence[str]:
        """Return the next `limit` names after `after`, in order."""
        return [name for (name,) in await self._tables.select(_NAMES, after=after, limit=limit)]

    @transaction
    def apply(self, rows: Rows, names: Sequence[str]) -> None:
        """Hide and show `names` as the rules of the settings say."""
        apply_policy(rows, names, self._sources)

    async def hidden_by(self, policy: Policy, names: Sequence[str]) -> Mapping[str, str]:
        """Return those of `names` that `policy` would hide, with the rule that hides each. Change nothing."""
        return await self._tables.read(lambda rows: names_hidden_by(rows, policy, names, self._sources))

    async def counts(self) -> Mapping[str, int]:
        """Return the number of entries that each rule hides."""
        return dict(await self._tables.select(_COUNTS))


BATCH = 100
"""Names that are compared in one transaction, in a thread."""

MAX_SHOWN = 50
"""Names of entries that a page shows of each rule."""


@frozen
class Outcome:
    """What rules would hide: the number of entries and the first names by rule, and the number of compared names."""

    compared: int
    counts: Mapping[str, int]
    names: Mapping[str, Sequence[str]]


async def hidden_names(ruled: RuledNames, rules: PolicyRules) -> AsyncIterator[tuple[int, Mapping[str, str]]]:
    """Yield numbers of compared names, and those that `rules` would hide with the rule that hides each."""
    policy, after = EntryPolicy(rules), ""
    while names := await ruled.names(after, BATCH):
        yield len(names), await ruled.hidden_by(policy, names)
        after = names[-1]


@define(eq=False)
class DryRun:
    """Dry runs for pages, one at a time: each of them reads all entries."""

    ruled: RuledNames
    _lock: DeferredLock = field(factory=DeferredLock, init=False)

    async def run(self, rules: PolicyRules) -> Outcome:
        """Return what `rules` would hide. Raises Unavailable."""
        compared, counts, names = 0, Counter[str](), dict[str, list[str]]()
        await self._lock.acquire()
        try:
            async for count, hidden in hidden_names(self.ruled, rules):
                compared += count
                counts.update(hidden.values())
                for name, rule in hidden.items():
                    shown = names.setdefault(rule, [])
                    if len(shown) < MAX_SHOWN:
                        shown.append(name)
        finally:
            self._lock.release()
        return Outcome(compared, counts, names)


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
