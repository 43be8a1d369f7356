"""Webhooks, their secrets and the log of their messages, in the tables of the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import asdict, frozen
from attrs.filters import include

from ...domain.entries import is_storable
from ...domain.errors import BadInput
from ...tables import Rows, Tables, transaction
from ...tables.sealing import seal, unseal
from .rules import GRACE, MAX_WEBHOOKS, PAUSED_AFTER, Delivery, Webhook, new_secret, unknown_webhook, wrong_list

MAX_DELIVERIES = 200
"""Attempts that are stored of each webhook."""

_COLUMNS = """
    id, label, url, kinds, namespaces, keywords, created_at, seq, pending, was_reset, failures, failing_since, next_at,
    delivered_at, error, list, log, EXISTS (SELECT 1 FROM entry_list WHERE entry_list.name = webhook.list AND is_all)
"""

_LIST = f"SELECT {_COLUMNS} FROM webhook ORDER BY created_at, id"

_FIND = f"SELECT {_COLUMNS} FROM webhook WHERE id = :id"

# Writers wait for each other, so that together they do not exceed the limit. Readers do not wait.
_LOCK = "LOCK TABLE webhook IN SHARE ROW EXCLUSIVE MODE"

_COUNT = "SELECT count(*) FROM webhook"

_PAUSED = """
    SELECT count(*) FROM webhook WHERE failing_since <= clock_seconds() - CAST(:seconds AS double precision)
"""

_ADD = """
    INSERT INTO webhook (id, label, url, kinds, namespaces, keywords, list, created_at, seq, log, salt, sealed)
    VALUES (:id, :label, :url, :kinds, :namespaces, :keywords, :list, :created_at, :seq, (SELECT id FROM log), :salt,
        :sealed)
"""

_LIST_OF_ENTRIES = "SELECT 1 FROM entry_list WHERE name = :name"

_REMOVE = "DELETE FROM webhook WHERE id = :id"

# A process that has lost its lease changes no webhook that another one has sent a message to since.
_IS_SAME = "id = :id AND seq = :before"

_SKIP = f"UPDATE webhook SET seq = :seq, pending = 0 WHERE {_IS_SAME}"

_RESET = f"UPDATE webhook SET was_reset = 1, seq = :seq, pending = 0, log = :log WHERE {_IS_SAME}"

_BEGIN = f"UPDATE webhook SET pending = :seq WHERE {_IS_SAME} AND pending IN (0, :seq)"

_DELIVERED = f"""
    UPDATE webhook SET seq = :seq, pending = 0, was_reset = 0, failures = 0, failing_since = NULL, next_at = 0,
        delivered_at = :at, error = ''
    WHERE {_IS_SAME}
"""

_FAILED = f"""
    UPDATE webhook SET failures = failures + 1,
        failing_since = coalesce(failing_since, CAST(:at AS double precision)), next_at = :next_at, error = :error
    WHERE {_IS_SAME}
"""

_SECRETS = "SELECT salt, sealed, previous_salt, previous_sealed, previous_until FROM webhook WHERE id = :id"

_ROTATE = """
    UPDATE webhook SET previous_salt = salt, previous_sealed = sealed, previous_until = :previous_until,
        salt = :salt, sealed = :sealed
    WHERE id = :id
"""

_LOG = """
    INSERT INTO webhook_delivery (webhook, at, message, seq, changes, status, error, seconds)
    SELECT id, CAST(:at AS double precision), CAST(:message AS text), CAST(:seq AS bigint), CAST(:changes AS bigint),
        CAST(:status AS bigint), CAST(:error AS text), CAST(:seconds AS double precision)
    FROM webhook WHERE id = :id
"""

_TRIM = """
    DELETE FROM webhook_delivery WHERE webhook = :id AND number <= (
        SELECT number FROM webhook_delivery WHERE webhook = :id ORDER BY number DESC LIMIT 1 OFFSET :size
    )
"""

_DELIVERIES = """
    SELECT at, message, seq, changes, status, error, seconds FROM webhook_delivery WHERE webhook = :id
    ORDER BY number DESC LIMIT :limit
"""


@frozen
class Webhooks:
    """Webhooks, shared by all processes. `server_secret` encrypts their secrets. All methods raise Unavailable."""

    _tables: Tables
    _server_secret: bytes

    async def list(self) -> Sequence[Webhook]:
        """Return all webhooks, the oldest first."""
        return [_webhook(row) for row in await self._tables.all(_LIST)]

    async def find(self, webhook_id: str) -> Webhook:
        """Return a webhook. Raises NotFound."""
        row = await self._tables.one(_FIND, id=webhook_id) if is_storable(webhook_id) else None
        if row is None:
            raise unknown_webhook(webhook_id)
        return _webhook(row)

    @transaction
    def add(self, rows: Rows, webhook: Webhook) -> str:
        """Store a new webhook; return its secret. Raises BadInput if there are too many, or its list is unknown."""
        if not is_storable(webhook.list):
            raise wrong_list(webhook.list)
        secret = new_secret()
        salt, sealed = self._seal(webhook.id, secret)
        row = {
            **asdict(webhook, filter=include("id", "label", "url", "keywords", "list", "created_at", "seq")),
            "kinds": " ".join(webhook.kinds),
            "namespaces": " ".join(webhook.namespaces),
            "salt": salt,
            "sealed": sealed,
        }
        rows.lock(_LOCK)
        if rows.one(_COUNT)[0] >= MAX_WEBHOOKS:
            raise BadInput(f"There may be at most {MAX_WEBHOOKS} webhooks.", code="webhooks_full")
        if webhook.list and rows.one(_LIST_OF_ENTRIES, name=webhook.list) is None:
            raise wrong_list(webhook.list)
        rows.execute(_ADD, **row)
        return secret

    @transaction
    def remove(self, rows: Rows, webhook_id: str) -> None:
        """Delete a webhook with the log of its deliveries. Raises NotFound."""
        if not is_storable(webhook_id) or not rows.execute(_REMOVE, id=webhook_id):
            raise unknown_webhook(webhook_id)

    @transaction
    def rotate(self, rows: Rows, webhook_id: str, now: float) -> str:
        """Give a webhook another secret; return it. The previous one also signs for GRACE seconds. Raises NotFound."""
        secret = new_secret()
        if not is_storable(webhook_id):
            raise unknown_webhook(webhook_id)
        salt, sealed = self._seal(webhook_id, secret)
        if not rows.execute(_ROTATE, id=webhook_id, salt=salt, sealed=sealed, previous_until=now + GRACE):
            raise unknown_webhook(webhook_id)
        return secret

    async def secrets(self, webhook_id: str, now: float) -> Sequence[str]:
        """Return the secrets that sign messages, the newest first. None of them if another server secret sealed them.

        Raises NotFound.
        """
        row = await self._tables.one(_SECRETS, id=webhook_id)
        if row is None:
            raise unknown_webhook(webhook_id)
        salt, sealed, previous_salt, previous_sealed, previous_until = row
        found = [self._unseal(webhook_id, salt, sealed)]
        if previous_until is not None and previous_until > now:
            found.append(self._unseal(webhook_id, previous_salt, previous_sealed))
        return [secret for secret in found if secret is not None]

    async def deliveries(self, webhook_id: str, limit: int = MAX_DELIVERIES) -> Sequence[Delivery]:
        """Return the last attempts of a webhook, the newest first."""
        rows = await self._tables.select(_DELIVERIES, id=webhook_id, limit=limit)
        return [Delivery(*row) for row in rows]

    @transaction
    def log(self, rows: Rows, webhook_id: str, delivery: Delivery) -> None:
        """Store an attempt that does not count, such as a test."""
        log_delivery(webhook_id, delivery, rows)

    async def skip(self, webhook: Webhook, seq: int) -> bool:
        """Store that a webhook needs no changes to `seq`; return False if another process has sent to it."""
        return await self._changed(_SKIP, webhook, seq=seq)

    async def reset(self, webhook: Webhook, log: str, seq: int) -> bool:
        """Store that a webhook has lost changes before `seq` of another log; return as `skip`."""
        return await self._changed(_RESET, webhook, seq=seq, log=log)

    async def begin(self, webhook: Webhook, seq: int) -> bool:
        """Store that a message with the changes to `seq` is being sent; return as `skip`."""
        return await self._changed(_BEGIN, webhook, seq=seq)

    @transaction
    def record(self, rows: Rows, webhook: Webhook, delivery: Delivery, next_at: float) -> bool:
        """Store an attempt, which is repeated at `next_at` if it has failed; return as `skip`."""
        values = {"id": webhook.id, "before": webhook.seq, "at": delivery.at}
        if delivery.error:
            is_changed = rows.execute(_FAILED, **values, next_at=next_at, error=delivery.error) > 0
        else:
            is_changed = rows.execute(_DELIVERED, **values, seq=delivery.seq) > 0
        if is_changed:
            log_delivery(webhook.id, delivery, rows)
        return is_changed

    @transaction
    def _changed(self, rows: Rows, /, statement: str, webhook: Webhook, **values: object) -> bool:
        return rows.execute(statement, id=webhook.id, before=webhook.seq, **values) > 0

    def _seal(self, webhook_id: str, secret: str) -> tuple[bytes, bytes]:
        return seal(self._server_secret.hex(), f"webhook {webhook_id}", secret)

    def _unseal(self, webhook_id: str, salt: bytes, sealed: bytes) -> str | None:
        return unseal(self._server_secret.hex(), f"webhook {webhook_id}", bytes(salt), bytes(sealed))


async def count_paused(tables: Tables) -> int:
    """Return the number of paused webhooks, by the clock of the database."""
    row = await tables.one(_PAUSED, seconds=PAUSED_AFTER)
    return int(row[0])


def log_delivery(webhook_id: str, delivery: Delivery, rows: Rows) -> None:
    """Store an attempt, and delete the oldest ones."""
    rows.execute(_LOG, id=webhook_id, **asdict(delivery))
    rows.execute(_TRIM, id=webhook_id, size=MAX_DELIVERIES)


def _webhook(row: Any) -> Webhook:
    webhook_id, label, url, kinds, namespaces, keywords, created_at, seq, pending, was_reset, *state, has_all = row
    return Webhook(
        webhook_id,
        label,
        url,
        tuple(kinds.split()),
        tuple(namespaces.split()),
        keywords,
        created_at,
        seq,
        pending,
        bool(was_reset),
        *(*state, bool(has_all)),
    )
