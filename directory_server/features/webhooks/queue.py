"""The queue of webhooks: how far the change log was read, what it has changed, and what was delivered.

One process at a time holds the lease to read and to send.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from attrs import asdict, frozen

from ...tables import Rows, Tables, transaction
from .rules import Delivery, WebhookChange
from .tables import log_delivery

MAX_CHANGES = 100_000
"""Changes that are stored for webhooks. A webhook that has not received older ones loses these."""

_STATE = """
    SELECT log, seq, is_complete, holder, until > clock_seconds(), coalesce((SELECT max(seq) FROM webhook_change), 0)
    FROM webhook_reader
"""

_HOLD = """
    INSERT INTO webhook_reader AS held (id, holder, until)
    VALUES (1, :holder, clock_seconds() + CAST(:seconds AS double precision))
    ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE held.holder = excluded.holder OR held.until <= clock_seconds()
            OR held.until > excluded.until + CAST(:seconds AS double precision)
"""

_RELEASE = "UPDATE webhook_reader SET holder = '', until = 0 WHERE holder = :holder"

_IS_HELD = "EXISTS (SELECT 1 FROM webhook_reader WHERE holder = :holder AND until > clock_seconds())"

_HELD = f"SELECT {_IS_HELD}"

_KNOWN = "SELECT mcp_id, name, document, tools, status, lists FROM webhook_entry WHERE mcp_id = ANY(:mcp_ids)"

_KEEP_ENTRY = """
    INSERT INTO webhook_entry (mcp_id, name, document, tools, status, lists)
    VALUES (:mcp_id, :name, :document, :tools, :status, :lists) ON CONFLICT (mcp_id) DO NOTHING
"""

_PUT_ENTRY = """
    INSERT INTO webhook_entry (mcp_id, name, document, tools, status, lists)
    VALUES (:mcp_id, :name, :document, :tools, :status, :lists)
    ON CONFLICT (mcp_id) DO UPDATE SET
        name = excluded.name, document = excluded.document, tools = excluded.tools, status = excluded.status,
        lists = excluded.lists
"""

_DROP_ENTRIES = "DELETE FROM webhook_entry WHERE mcp_id = ANY(:mcp_ids)"

_PUT_CHANGE = """
    INSERT INTO webhook_change (seq, name, kinds, lists_before, lists_after)
    VALUES (:seq, :name, :kinds, :before, :after) ON CONFLICT (seq) DO NOTHING
"""

_ADVANCE = "UPDATE webhook_reader SET log = :log, seq = :seq, is_complete = :is_complete WHERE id = 1"

_RESET = (
    "DELETE FROM webhook_entry",
    "DELETE FROM webhook_change",
    "UPDATE webhook SET was_reset = 1, seq = :seq, pending = 0",
)

_FIRST = "SELECT min(seq) FROM webhook"

_CHANGES = """
    SELECT seq, name, kinds, lists_before, lists_after FROM webhook_change
    WHERE seq > :after AND seq <= :until ORDER BY seq LIMIT :limit
"""

_SKIP = f"UPDATE webhook SET seq = :seq, pending = 0 WHERE id = :id AND seq < :seq AND {_IS_HELD}"

_DELIVERED = f"""
    UPDATE webhook SET seq = :seq, pending = 0, was_reset = 0, failures = 0, failing_since = NULL, next_at = 0,
        delivered_at = :at, error = ''
    WHERE id = :id AND {_IS_HELD}
"""

_BEGIN = f"UPDATE webhook SET pending = :pending WHERE id = :id AND {_IS_HELD}"

_FAILED = f"""
    UPDATE webhook SET failures = failures + 1,
        failing_since = coalesce(failing_since, CAST(:at AS double precision)), next_at = :next_at, error = :error
    WHERE id = :id AND {_IS_HELD}
"""

# What all have received, and what exceeds the limit.
_PRUNE = """
    DELETE FROM webhook_change WHERE seq <= greatest(
        (SELECT min(seq) FROM webhook),
        coalesce((SELECT seq FROM webhook_change ORDER BY seq DESC LIMIT 1 OFFSET :size), 0)
    )
"""

_LOST = """
    UPDATE webhook SET was_reset = 1, seq = CAST(:seq AS bigint), pending = 0 WHERE seq < CAST(:seq AS bigint)
"""

_OVERFLOW = "SELECT seq FROM webhook_change ORDER BY seq DESC LIMIT 1 OFFSET :size"

LARGEST = 2**63 - 1


@frozen
class Reader:
    """How far the log was read: to `seq` of the log with the id `log`. `last` is the last change for webhooks.

    `is_complete` means that all entries are known. `is_held` is whether `holder` holds the lease.
    """

    log: str = ""
    seq: int = 0
    is_complete: bool = False
    holder: str = ""
    is_held: bool = False
    last: int = 0


@frozen
class KnownEntry:
    """A visible entry as of the last change that was read: digests of document and tools, status, lists."""

    mcp_id: str
    name: str
    document: bytes
    tools: bytes
    status: str
    lists: frozenset[str] = frozenset()

    def row(self) -> dict[str, Any]:
        """Return the values of its row."""
        return {**asdict(self), "lists": _joined(self.lists)}


def _joined(names: Collection[str]) -> str:
    return " ".join(sorted(names))


@frozen
class WebhookQueue:
    """What the process that sends reads and writes. All methods raise Unavailable."""

    _tables: Tables

    async def reader(self) -> Reader:
        """Return how far the log was read."""
        row = await self._tables.one(_STATE)
        if row is None:
            return Reader()
        log, seq, is_complete, holder, is_held, last = row
        return Reader(log, seq, bool(is_complete), holder, bool(is_held), last)

    async def hold(self, holder: str, *, seconds: float) -> bool:
        """Acquire or renew the lease for `seconds`; return False if another holder has it."""
        return await self._tables.write(lambda rows: rows.execute(_HOLD, holder=holder, seconds=seconds)) > 0

    async def release(self, holder: str) -> None:
        """Release the lease."""
        await self._tables.write(lambda rows: rows.execute(_RELEASE, holder=holder))

    async def first(self) -> int:
        """Return the least `seq` that a webhook has received."""
        row = await self._tables.one(_FIRST)
        return int(row[0] or 0)

    @transaction
    def reset(self, rows: Rows, holder: str, log: str, seq: int) -> bool:
        """Forget all changes, and begin at `seq` of another log. Return False if the lease of `holder` has ended."""
        if not rows.one(_HELD, holder=holder)[0]:
            return False
        for statement in _RESET[:2]:
            rows.execute(statement)
        rows.execute(_RESET[2], seq=seq)
        rows.execute(_ADVANCE, log=log, seq=seq, is_complete=0)
        return True

    async def known(self, mcp_ids: Collection[str]) -> dict[str, KnownEntry]:
        """Return what is known of entries."""
        rows = await self._tables.select(_KNOWN, mcp_ids=list(mcp_ids))
        return {
            mcp_id: KnownEntry(mcp_id, name, bytes(document), bytes(tools), status, frozenset(lists.split()))
            for mcp_id, name, document, tools, status, lists in rows
        }

    @transaction
    def keep(self, rows: Rows, holder: str, entries: Sequence[KnownEntry]) -> bool:
        """Store entries that are not known yet; return False if the lease has ended."""
        is_held = bool(rows.one(_HELD, holder=holder)[0])
        if is_held:
            rows.many(_KEEP_ENTRY, [entry.row() for entry in entries])
        return is_held

    @transaction
    def advance(
        self,
        rows: Rows,
        holder: str,
        log: str,
        seq: int,
        *,
        entries: Sequence[KnownEntry] = (),
        removed: Collection[str] = (),
        changes: Sequence[WebhookChange] = (),
    ) -> bool:
        """Store that the log was read to `seq`, with what that has changed; return False if the lease has ended."""
        if not rows.one(_HELD, holder=holder)[0]:
            return False
        rows.many(_PUT_ENTRY, [entry.row() for entry in entries])
        if removed:
            rows.execute(_DROP_ENTRIES, mcp_ids=list(removed))
        rows.many(
            _PUT_CHANGE,
            [
                {
                    **{"seq": change.seq, "name": change.name, "kinds": " ".join(change.kinds)},
                    **{"before": _joined(change.before), "after": _joined(change.after)},
                }
                for change in changes
            ],
        )
        rows.execute(_ADVANCE, log=log, seq=seq, is_complete=1)
        return True

    async def changes(self, after: int, limit: int, until: int = 0) -> Sequence[WebhookChange]:
        """Return at most `limit` changes after `after`, and up to `until` unless that is 0."""
        limits = {"after": after, "until": until or LARGEST, "limit": limit}
        rows = await self._tables.select(_CHANGES, **limits)
        return [
            WebhookChange(seq, name, tuple(kinds.split()), frozenset(before.split()), frozenset(after.split()))
            for seq, name, kinds, before, after in rows
        ]

    async def skip(self, holder: str, webhook_id: str, seq: int) -> bool:
        """Store that a webhook needs no changes to `seq`; return False if the lease has ended."""
        return await self._tables.write(lambda rows: rows.execute(_SKIP, holder=holder, id=webhook_id, seq=seq)) > 0

    async def begin(self, holder: str, webhook_id: str, seq: int) -> bool:
        """Store that a message with the changes to `seq` is being sent; return False if the lease has ended."""
        return (
            await self._tables.write(lambda rows: rows.execute(_BEGIN, holder=holder, id=webhook_id, pending=seq)) > 0
        )

    @transaction
    def delivered(self, rows: Rows, holder: str, webhook_id: str, delivery: Delivery) -> bool:
        """Store that the changes of a delivery were received; return False if the lease has ended."""
        values = {"holder": holder, "id": webhook_id, "seq": delivery.seq, "at": delivery.at}
        is_held = rows.execute(_DELIVERED, **values) > 0
        if is_held:
            log_delivery(webhook_id, delivery, rows)
        return is_held

    @transaction
    def failed(self, rows: Rows, holder: str, webhook_id: str, delivery: Delivery, next_at: float) -> bool:
        """Store a failed attempt, which is repeated at `next_at`; return False if the lease has ended."""
        values = {"holder": holder, "id": webhook_id, "at": delivery.at}
        is_held = rows.execute(_FAILED, **values, next_at=next_at, error=delivery.error) > 0
        if is_held:
            log_delivery(webhook_id, delivery, rows)
        return is_held

    @transaction
    def prune(self, rows: Rows, size: int = MAX_CHANGES) -> None:
        """Delete the changes that all webhooks have received, and those beyond `size`."""
        lost = rows.one(_OVERFLOW, size=size)
        if lost is not None:
            rows.execute(_LOST, seq=lost[0])
        rows.execute(_PRUNE, size=size)
