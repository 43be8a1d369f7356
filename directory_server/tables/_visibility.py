"""Visibility of names: updated and logged when records or flags change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import evolve, frozen

from ..domain.changes import Cause, ChangeKind
from ..domain.entries import mcp_id_of
from ..domain.ports.storage import Policy
from ..domain.versions import LOCAL, REMOVED, preferred
from ..domain.visibility import COUNT_DELTA, Transition, transition
from ..serialization import restore_entry
from ._approvals import LEAVE, waiting_documents
from ._locking import Locked, lock_names, read_names
from ._names import StoredName, StoredRecord, hiding_rules
from ._tables import Rows, Statement

_LOG = """
    INSERT INTO change (seq, kind, mcp_id, total, cause, at)
    SELECT seq, kind, mcp_id, total, cause, clock_seconds()
    FROM input(seq bigint, kind text, mcp_id text, total bigint, cause text)
"""

_UPDATE = """
    INSERT INTO entry (mcp_id, name, visible_id, preferred_id, curated, seq, updated_at)
    SELECT mcp_id, name, visible_id, preferred_id, curated, seq, clock_seconds()
    FROM input(mcp_id text, name text, visible_id bigint, preferred_id bigint, curated boolean, seq bigint) WHERE true
    ON CONFLICT (mcp_id) DO UPDATE SET
        visible_id = excluded.visible_id, preferred_id = excluded.preferred_id, curated = excluded.curated,
        seq = excluded.seq, updated_at = excluded.updated_at
"""

_MOVE = """
    UPDATE entry SET visible_id = input.visible_id, preferred_id = input.preferred_id
    FROM input(mcp_id text, visible_id bigint, preferred_id bigint) WHERE entry.mcp_id = input.mcp_id
"""

# A name that a rule hides is hidden in all lists. The rule tells it from one that the operator hides.
_RULED = """
    UPDATE entry SET hidden = input.hidden, rule = input.rule
    FROM input(mcp_id text, hidden boolean, rule text) WHERE entry.mcp_id = input.mcp_id
"""

_SEEN = """
    UPDATE entry SET seq = input.seq FROM input(seq bigint, mcp_id text) WHERE entry.mcp_id = input.mcp_id
"""

_NAMES = "SELECT name FROM entry WHERE mcp_id = ANY(:mcp_ids) ORDER BY name"

_BODIES = "SELECT id, body FROM record WHERE id = ANY(:ids)"

DOCUMENTS = 50
"""Pairs of documents whose status is compared at a time."""

_UNRESOLVED = "SELECT name FROM unresolved ORDER BY name LIMIT :limit"

_RESOLVED = "DELETE FROM unresolved WHERE name = ANY(:names)"


@frozen
class _Updated:
    """A name whose visibility changes, and its visible and preferred record."""

    stored: StoredName
    change: Transition
    visible: StoredRecord | None
    preferred: StoredRecord | None

    @property
    def visible_id(self) -> int | None:
        return None if self.visible is None else self.visible.row

    @property
    def preferred_id(self) -> int | None:
        return None if self.preferred is None else self.preferred.row

    @property
    def is_document(self) -> bool:
        """Whether the entry stays visible with another document."""
        before, after = self.stored.before.visible_fingerprint, self.change.after.visible_fingerprint
        return self.change.kind == "changed" and before != after

    @property
    def is_moved(self) -> bool:
        before = self.stored.before
        return (before.visible_id, before.preferred_id) != (self.visible_id, self.preferred_id)

    @property
    def cause(self) -> Cause:
        if self.is_document:
            return "status" if self.stored.is_deprecated else "document"
        return "judgement" if self.change.kind == "changed" else ""

    @property
    def ids(self) -> dict[str, object]:
        return {"mcp_id": self.stored.mcp_id, "visible_id": self.visible_id, "preferred_id": self.preferred_id}


def visibility_updates(
    rows: Rows, locked: Locked, names: Sequence[StoredName], sources: Sequence[str]
) -> Sequence[Statement]:
    """Return the statements that store the visibility of `names` after a change of their records or flags.

    They also log the changes of visible entries, and an entry whose document waits leaves its list with its change.
    `names` are of `locked`. `sources` is the order of precedence. The records are stored if `reads_records`.
    """
    return _updates(rows, locked, names, sources, _apply_rules(rows, names, sources))


def find_deprecated(rows: Rows, names: Sequence[StoredName], sources: Sequence[str]) -> None:
    """Set `is_deprecated` of `names`: whether their visible entries become deprecated, as the log says.

    Call it before records are written, if that is before `visibility_updates`, which does it else.
    """
    chosen = [(stored, _preferred(stored, sources)) for stored in names]
    _find_deprecated(rows, [(stored, kept) for stored, kept in chosen if kept is not None])
    for stored in names:
        stored.is_deprecated = bool(stored.is_deprecated)


def _find_deprecated(rows: Rows, changed: Sequence[tuple[StoredName, StoredRecord]]) -> None:
    """Set `is_deprecated` of those of names with their new visible records that may be deprecated."""
    pairs = [
        (stored, stored.before.visible_id, kept)
        for stored, kept in changed
        if kept.record.deprecated is not False and stored.before.visible_id is not None
    ]
    for start in range(0, len(pairs), DOCUMENTS):
        part = pairs[start : start + DOCUMENTS]
        ids = [row for _, row, _ in part] + [kept.row for *_, kept in part if kept.record.deprecated is None]
        deprecated = {row: _is_deprecated(body) for row, body in rows.all(_BODIES, ids=ids)}
        for stored, row, kept in part:
            stored.is_deprecated = (kept.record.deprecated or deprecated[kept.row]) and not deprecated[row]


def _is_deprecated(body: bytes) -> bool:
    # Most documents need not be decoded.
    return b'"deprecated"' in body and restore_entry(body).status == "deprecated"


def reads_records(rows: Rows, locked: Locked) -> bool:
    """Return whether `visibility_updates` reads the records that a transaction has written."""
    return rows.policy is not None or bool(locked.approved)


def _updates(
    rows: Rows,
    locked: Locked,
    names: Sequence[StoredName],
    sources: Sequence[str],
    ruled: Sequence[Mapping[str, object]],
) -> Sequence[Statement]:
    updates = [_updated(stored, sources) for stored in names]
    documents = [update for update in updates if update.is_document and update.stored.is_deprecated is None]
    _find_deprecated(rows, [(update.stored, update.visible) for update in documents if update.visible is not None])
    logged = [(update.change.kind, update.cause, update.stored) for update in updates if update.change.kind is not None]
    statements = list(_logging(locked, logged))
    written = [
        {
            **update.ids,
            "name": update.stored.name,
            "curated": update.change.after.curated,
            "seq": update.stored.seq,
        }
        for update in updates
        if update.change.is_update
    ]
    moved = [update.ids for update in updates if update.is_moved and not update.change.is_update]
    preferred_ids = {update.stored.name: update.preferred_id for update in updates if update.preferred_id is not None}
    left = [
        {"seq": locked.names[name].seq, "mcp_id": mcp_id_of(name), "list": list_name}
        for name, list_name, _ in waiting_documents(rows, locked.approved, preferred_ids)
    ]
    changed = (_UPDATE, written), (_MOVE, moved), (_RULED, ruled), (LEAVE, left)
    return [*statements, *((statement, values) for statement, values in changed if values)]


def apply_policy(rows: Rows, names: Collection[str], sources: Sequence[str]) -> None:
    """Compare `names` with the rules of the policy, and log those that become visible or hidden.

    It ends the transaction. `sources` is the order of precedence.
    """
    locked = lock_names(rows, names)
    rows.finish(*visibility_updates(rows, locked, list(locked.names.values()), sources), locked.notification())


def resolve_names(rows: Rows, limit: int, sources: Sequence[str]) -> int:
    """Choose the visible records of the next `limit` names that an upgrade left unresolved; return their number.

    It ends the transaction. `sources` is the order of precedence.
    """
    names = [name for (name,) in rows.all(_UNRESOLVED, limit=limit)]
    if names:
        rows.execute(_RESOLVED, names=names)
        apply_policy(rows, names, sources)
    return len(names)


def names_hidden_by(rows: Rows, policy: Policy, names: Collection[str], sources: Sequence[str]) -> Mapping[str, str]:
    """Return those of `names` that `policy` would hide, with the rule that hides each, and change nothing.

    `sources` is the order of precedence.
    """
    stored_names = list(read_names(rows, names, ("SELECT 1", {})).names.values())
    rules = _rules_of(rows, policy, stored_names, sources)
    return {stored.name: rules[stored.mcp_id] for stored in stored_names if rules.get(stored.mcp_id)}


def _apply_rules(rows: Rows, names: Sequence[StoredName], sources: Sequence[str]) -> Sequence[Mapping[str, object]]:
    """Set the rules that hide `names`; return the rows of those whose rule has changed."""
    rules = {} if rows.policy is None else _rules_of(rows, rows.policy, names, sources)
    changed = []
    for stored in names:
        rule = rules.get(stored.mcp_id, "")
        if rule != stored.flags.rule:
            stored.flags = evolve(stored.flags, rule=rule)
            changed.append({"mcp_id": stored.mcp_id, "hidden": stored.flags.is_hidden, "rule": rule})
    return changed


def _rules_of(rows: Rows, policy: Policy, names: Sequence[StoredName], sources: Sequence[str]) -> Mapping[str, str]:
    """Return the rule that hides each of `names` by its mcp_id; empty, or no item, if none does."""
    records: dict[str, int] = {}
    for stored in names:
        chosen = _preferred(stored, sources)
        # What the operator has decided or written stays. Deleted and removed entries have no way to install.
        is_free = chosen is None or stored.flags.are_decided or chosen.record.source in (LOCAL, REMOVED)
        if chosen is not None and not is_free and not chosen.record.deleted:
            records[stored.mcp_id] = chosen.row
    return hiding_rules(rows, policy, records)


def _preferred(stored: StoredName, sources: Sequence[str]) -> StoredRecord | None:
    chosen = preferred([kept.record for kept in stored.records.values()], sources)
    return None if chosen is None else stored.records[chosen.source, chosen.version]


def log_change(rows: Rows, mcp_id: str, cause: Cause) -> None:
    """Log a change of the entry `mcp_id` as `log_changes` does."""
    log_changes(rows, [mcp_id], cause)


def log_changes(rows: Rows, mcp_ids: Sequence[str], cause: Cause) -> Mapping[str, int]:
    """Log a change of each of the entries `mcp_ids` that is visible, which is not one of its records or flags.

    The kind of the change is "changed". If a rule of the policy now hides an entry, or hides it no more, the change is
    that. Return the numbers of the changes by mcp_id.
    """
    names = [name for (name,) in rows.all(_NAMES, mcp_ids=list(mcp_ids))]
    seqs: dict[str, int] = {}
    if not names:
        return seqs
    locked = lock_names(rows, names)
    if rows.policy is not None:
        for stored in locked.names.values():
            # The preferred record precedes itself, whatever the order of sources.
            preferred_id = stored.before.preferred_id
            stored.records = {key: kept for key, kept in stored.records.items() if kept.row == preferred_id}
        if ruled := _apply_rules(rows, list(locked.names.values()), ()):
            changed = [stored for stored in locked.names.values() if stored.mcp_id in {row["mcp_id"] for row in ruled}]
            rows.together(*_updates(rows, locked, changed, (), ruled), locked.notification())
            seqs |= {stored.mcp_id: stored.seq for stored in changed}
            if len(changed) == len(names):
                return seqs
            locked = lock_names(rows, [name for name in names if mcp_id_of(name) not in seqs])
    visible = [stored for stored in locked.names.values() if stored.before.visible_id is not None]
    if visible:
        logging = _logging(locked, [("changed", cause, stored) for stored in visible])
        seen = [{"seq": stored.seq, "mcp_id": stored.mcp_id} for stored in visible]
        rows.together(*logging, (_SEEN, seen), locked.notification())
    return seqs | {stored.mcp_id: stored.seq for stored in visible}


def _updated(stored: StoredName, sources: Sequence[str]) -> _Updated:
    kept_records = {kept.record.id: kept for kept in stored.records.values()}
    records = sorted((kept.record for kept in stored.records.values()), key=lambda record: record.id)
    change = transition(stored.before, stored.flags, records, sources)
    visible, preferred = change.after.visible_id, change.after.preferred_id
    return _Updated(
        stored,
        change,
        visible=None if visible is None else kept_records[visible],
        preferred=None if preferred is None else kept_records[preferred],
    )


def _logging(locked: Locked, logged: Sequence[tuple[ChangeKind, Cause, StoredName]]) -> Sequence[Statement]:
    """Return the statement that logs changes of the visible entry of names, and set the `seq` of these names."""
    total = locked.total
    changes = []
    for number, (kind, cause, stored) in enumerate(logged, locked.last + 1):
        stored.seq = number
        total += COUNT_DELTA[kind]
        changes.append({"seq": number, "kind": kind, "mcp_id": stored.mcp_id, "total": total, "cause": cause})
    return [(_LOG, changes)] if changes else []
