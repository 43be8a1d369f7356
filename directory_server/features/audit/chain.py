"""The chain of records: canonical form, hashes, checkpoints, and their verification."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import astuple, evolve, frozen

from ... import serialization
from ...domain.audit import Actor, AuditEvent

GENESIS = "0" * 64
"""The hash before the first record."""


@frozen
class AuditRecord:
    """A record with its number, from 1, and its hash: that of the previous record and of its own fields."""

    number: int
    event: AuditEvent
    hash: str

    def values(self) -> dict[str, Any]:
        """Return the record for exports, with the fields of NIST SP 800-53, AU-3."""
        event, actor = self.event, self.event.actor
        return {
            "number": self.number,
            "at": serialization.rfc3339(event.at),
            "milliseconds": milliseconds(event.at),
            "subject": {"kind": actor.kind, "id": actor.id, "name": actor.name, "key": actor.key_id},
            "network": actor.network,
            "action": event.action,
            "target": event.target,
            "before": event.before,
            "after": event.after,
            "request_id": event.request_id,
            "outcome": event.outcome,
            "hash": self.hash,
        }


def milliseconds(at: float) -> int:
    """Return a time in seconds since the epoch in whole milliseconds, which all databases store exactly."""
    return round(at * 1_000)


COLUMNS = (
    *("at", "subject_kind", "subject_id", "subject_name", "key_id", "network"),
    *("action", "target", "before", "after", "request_id", "outcome"),
)
"""The columns of an event, in the order in which it is hashed."""


def columns_of(event: AuditEvent) -> dict[str, Any]:
    """Return the values of the COLUMNS of an event, in their order."""
    values = milliseconds(event.at), *astuple(event.actor), *astuple(event, recurse=False)[2:]
    return dict(zip(COLUMNS, values, strict=True))


def hash_of(number: int, event: AuditEvent, previous: str) -> str:
    """Return the SHA-256 of the previous hash and of a record, as hexadecimal digits.

    The record is a JSON array of its fields in UTF-8, without spaces: number, milliseconds, kind, id, name, key and
    network of the subject, action, target, before, after, request id and outcome.
    """
    fields = [number, *columns_of(event).values()]
    return hashlib.sha256(previous.encode() + serialization.encode(fields)).hexdigest()


@frozen
class Checkpoint:
    """The hash of a record: with the signature, nobody without the key can change the records up to it unseen.

    The base is the checkpoint of the last record that was deleted because of its age. `at` is the time of the
    signature in milliseconds since the epoch, 0 in checkpoints of old releases.
    """

    number: int
    hash: str
    is_base: bool = False
    signature: str = ""
    at: int = 0

    def sign(self, key: bytes) -> Checkpoint:
        """Return the checkpoint with the signature of `key`, or without one if the key is empty."""
        return evolve(self, signature=self._signature(key))

    def is_signed(self, key: bytes) -> bool:
        """Return whether the signature is that of `key`."""
        return bool(key) and hmac.compare_digest(self.signature.encode(), self._signature(key).encode())

    def _signature(self, key: bytes) -> str:
        text = f"{self.number}:{self.hash}:{'base' if self.is_base else 'checkpoint'}{f':{self.at}' if self.at else ''}"
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest() if key else ""


START = Checkpoint(0, GENESIS, is_base=True)


def base_of(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    """Return the checkpoint before the first record."""
    return next((checkpoint for checkpoint in checkpoints if checkpoint.is_base), START)


@frozen
class Verified:
    """The result of a verification: the first and the last record, the hash of that, and what is wrong, if anything."""

    first: int
    last: int
    hash: str
    problems: Sequence[str]


def verify(
    records: Iterable[AuditRecord],
    checkpoints: Sequence[Checkpoint],
    key: bytes,
    heads: Sequence[Checkpoint] = (),
    *,
    now: float = 0.0,
    max_age: float = 0.0,
) -> Verified:
    """Return whether `records` are an unbroken chain from the base on that agrees with all checkpoints.

    `heads` are checkpoints that were kept outside of the database. With a key and `max_age`, a checkpoint must have
    been signed in the `max_age` seconds before `now`: else the last ones may be missing with their records.
    """
    base = base_of(checkpoints)
    problems = [
        f"The checkpoint of record {checkpoint.number} is not signed with the key of audit.key_file."
        for checkpoint in checkpoints
        if key and not checkpoint.is_signed(key)
    ]
    # A clock that was ahead must not make an old checkpoint young.
    young = [checkpoint for checkpoint in checkpoints if abs(now - checkpoint.at / 1_000) <= max_age]
    if key and max_age and not any(checkpoint.is_signed(key) for checkpoint in young):
        problems.append(f"No checkpoint was signed in the last {max_age / 60:.0f} minutes: records may be missing.")
    expected: dict[int, set[str]] = {}
    for checkpoint in (*checkpoints, *heads):
        # An earlier record was deleted because of its age.
        if checkpoint.number >= base.number:
            expected.setdefault(checkpoint.number, set()).add(checkpoint.hash)
    number, previous = base.number, base.hash
    first = 0
    if expected.get(number, {previous}) != {previous}:
        problems.append(f"Record {number} is not the one of its checkpoint.")
    for record in records:
        if record.number != number + 1:
            problems.append(f"Records are missing between {number} and {record.number}.")
        elif record.hash != hash_of(record.number, record.event, previous):
            problems.append(f"Record {record.number} was changed, or the one before it.")
        if expected.get(record.number, {record.hash}) != {record.hash}:
            problems.append(f"Record {record.number} is not the one of its checkpoint.")
        first = first or record.number
        number, previous = record.number, record.hash
        if len(problems) >= 20:
            break
    else:
        if expected and max(expected) > number:
            problems.append(f"Records after {number} are missing: there was a record {max(expected)}.")
    return Verified(first, number, previous, problems)


def event_of(row: Sequence[Any]) -> AuditEvent:
    """Return the event of the columns `at` to `outcome` of a row."""
    at, kind, identity, name, key_id, network, *others = row
    return AuditEvent(at / 1_000, Actor(kind, identity, name, key_id, network), *others)
