"""The rules that were applied, the names that are compared with rules, and the numbers of hidden entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from ...config import Config
from ...domain.ports.storage import Policy
from ...tables import Rows, Tables, apply_policy, names_hidden_by

_APPLIED = "SELECT rules FROM applied_policy"

_PUT_APPLIED = """
    INSERT INTO applied_policy (id, rules) VALUES (1, :rules) ON CONFLICT (id) DO UPDATE SET rules = excluded.rules
"""

_NAMES = "SELECT name FROM entry WHERE name > :after ORDER BY name LIMIT :limit"

_COUNTS = "SELECT rule, count(*) FROM entry WHERE rule <> '' GROUP BY rule"


@frozen
class RuledNames:
    """The names that rules hide. `sources` is the order of precedence. All methods raise Unavailable."""

    _tables: Tables
    _sources: Sequence[str]

    @classmethod
    def of(cls, tables: Tables, config: Config) -> RuledNames:
        """Return the names in `tables`, with the sources of `config`."""
        return cls(tables, [upstream.name for upstream in config.upstream])

    async def applied(self) -> str:
        """Return the digest of the rules that all entries were compared with, empty if there were none."""
        row = await self._tables.read(lambda rows: rows.one(_APPLIED))
        return str(row[0]) if row else ""

    async def put_applied(self, digest: str) -> None:
        """Store that all entries were compared with the rules that have this digest."""
        await self._tables.write(lambda rows: rows.execute(_PUT_APPLIED, rules=digest))

    async def names(self, after: str, limit: int) -> Sequence[str]:
        """Return the next `limit` names after `after`, in order."""
        return [name for (name,) in await self._tables.read(lambda rows: rows.all(_NAMES, after=after, limit=limit))]

    async def apply(self, names: Sequence[str]) -> None:
        """Hide and show `names` as the rules of the settings say."""

        def write(rows: Rows) -> None:
            apply_policy(rows, names, self._sources)

        await self._tables.write(write)

    async def hidden_by(self, policy: Policy, names: Sequence[str]) -> Mapping[str, str]:
        """Return those of `names` that `policy` would hide, with the rule that hides each. Change nothing."""
        return await self._tables.read(lambda rows: names_hidden_by(rows, policy, names, self._sources))

    async def counts(self) -> Mapping[str, int]:
        """Return the number of entries that each rule hides."""
        return dict(await self._tables.read(lambda rows: rows.all(_COUNTS)))
