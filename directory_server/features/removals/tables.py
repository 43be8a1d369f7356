"""Tables of the malicious packages that the sources name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import asdict, frozen

from ...serialization import decode_stored, encode
from ...tables import Rows, Tables, transaction
from .osv import Advisory

PAGE = 5_000
"""Keys that are read at a time."""

_PUT = """
    INSERT INTO advisory (package, id, body)
    SELECT package, id, body FROM input(package text, id text, body bytea) WHERE true
    ON CONFLICT (package, id) DO UPDATE SET body = excluded.body WHERE advisory.body <> excluded.body
"""

_FIND = "SELECT package, id, body FROM advisory WHERE package = ANY(:packages) ORDER BY package, id"

_KEYS = """
    SELECT package, id FROM advisory WHERE package > :package OR (package = :package AND id > :id)
    ORDER BY package, id LIMIT :limit
"""

_DELETE = "DELETE FROM advisory WHERE package = :package AND id = :id"

_READING = "SELECT read_at, signature FROM advisory_reading"

_PUT_READING = """
    INSERT INTO advisory_reading (id, read_at, signature) VALUES (1, :read_at, :signature)
    ON CONFLICT (id) DO UPDATE SET read_at = excluded.read_at, signature = excluded.signature
"""


@frozen
class Reading:
    """When the sources were read, in seconds since the epoch, and a digest of what they were."""

    read_at: float = 0.0
    signature: str = ""


@frozen
class Advisories:
    """The stored advisories. `hash` keys differ in each process."""

    _tables: Tables

    async def put(self, advisories: Sequence[Advisory]) -> None:
        """Store advisories; those that are stored already write nothing."""
        rows = [
            {"package": advisory.package, "id": advisory.id, "body": encode([advisory.versions, advisory.ranges])}
            for advisory in {(advisory.package, advisory.id): advisory for advisory in advisories}.values()
        ]
        await self._tables.write(lambda transaction: transaction.many(_PUT, rows))

    async def drop_others(self, kept: Collection[int]) -> None:
        """Delete the advisories whose key `key_of` is not in `kept`."""
        last: tuple[str, str] = ("", "")
        while keys := await self._tables.select(_KEYS, package=last[0], id=last[1], limit=PAGE):
            others = (key for key in keys if key_of(*key) not in kept)
            if dropped := [{"package": package, "id": number} for package, number in others]:
                await self._delete(dropped)
            last = keys[-1]

    @transaction
    def _delete(self, rows: Rows, dropped: Sequence[Mapping[str, object]]) -> None:
        rows.many(_DELETE, dropped)

    async def find(self, packages: Collection[str]) -> Mapping[str, Sequence[Advisory]]:
        """Return the advisories of those of `packages` that have any."""
        if not packages:
            return {}
        found: dict[str, list[Advisory]] = {}
        wanted = sorted(packages)
        for package, number, body in await self._tables.select(_FIND, packages=wanted):
            found.setdefault(package, []).append(_advisory(package, number, body))
        return found

    async def reading(self) -> Reading:
        """Return when the sources were read."""
        row = await self._tables.one(_READING)
        return Reading(*row) if row else Reading()

    async def put_reading(self, reading: Reading) -> None:
        """Store when the sources were read."""
        await self._tables.run(_PUT_READING, **asdict(reading))


def key_of(package: str, number: str) -> int:
    """Return the key of an advisory in this process."""
    return hash((package, number))


def _advisory(package: str, number: str, body: bytes) -> Advisory:
    versions, ranges = decode_stored(body)
    return Advisory(
        package, number, tuple(versions), tuple(tuple((kind, version) for kind, version in events) for events in ranges)
    )
