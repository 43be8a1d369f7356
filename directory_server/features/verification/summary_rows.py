"""Rows of the summary of an entry and of the texts of packages, which writes to targets derive."""

from __future__ import annotations

from collections.abc import Iterable

from ...domain.notes import CHECKS, MISSING, SENT, TEXTS, Note
from ...serialization import decode_stored, encode, encode_indexed, encode_texts, restore_record
from ...tables import Rows, put_notes
from .results import PackageCheck
from .stored import restore_state
from .summaries import absent_packages, indexed, summarize
from .targets import Check, Target, TargetState

# Revisions grow in the order of commits. (0, 1) to (0, 3) are other locks. Rows of targets are locked before it, and
# the lock of publishers after it.
_LOCK = "SELECT pg_advisory_xact_lock(0, 4)"

_TARGETS = "SELECT id, body, state FROM target WHERE mcp_id = :mcp_id ORDER BY kind DESC, id"

_SUMMARIZE = """
    INSERT INTO verification (mcp_id, revision, summary)
    VALUES (:mcp_id, (SELECT coalesce(max(revision), 0) + 1 FROM verification), :summary)
    ON CONFLICT (mcp_id) DO UPDATE SET revision = excluded.revision, summary = excluded.summary
"""

# Both run under the lock: else texts could be deleted that another transaction begins to use.
_ADD_TEXTS = "INSERT INTO note_body (id, body) VALUES (:id, :body) ON CONFLICT (id) DO NOTHING"

_DROP_TEXTS = """
    DELETE FROM note_body
    WHERE id = ANY(:ids) AND NOT EXISTS (SELECT 1 FROM target WHERE target.texts = note_body.id)
"""


def states_of(rows: Rows, mcp_id: str) -> list[TargetState]:
    """Return the targets of an entry, remotes first, and what is known of each."""
    return [
        restore_state(restore_record(decode_stored(body), Target), state)
        for _, body, state in rows.all(_TARGETS, mcp_id=mcp_id)
    ]


def replace_texts(rows: Rows, old: Iterable[str | None], check: Check | None = None) -> None:
    """Delete the texts `old` that no target has, and store those of a `check` of a package."""
    dropped = sorted({texts for texts in old if texts})
    added = check.texts if isinstance(check, PackageCheck) else None
    if dropped or added is not None:
        rows.lock(_LOCK)
    if dropped:
        rows.execute(_DROP_TEXTS, ids=dropped)
    if added is not None and added.id:
        rows.execute(_ADD_TEXTS, id=added.id, body=encode_texts(added))


def summarize_entry(rows: Rows, mcp_id: str) -> bool:
    """Store the verification of an entry; log a change and return True if its indexed part has changed."""
    rows.lock(_LOCK)
    states = states_of(rows, mcp_id)
    rows.execute(_SUMMARIZE, mcp_id=mcp_id, summary=encode(summarize(states)))
    after, notes = indexed(states), []
    if after is not None:
        notes.append(Note(CHECKS, body=encode_indexed(after)))
        if after.texts:
            notes.append(Note(TEXTS, body_id=after.texts))
    missing = "\n".join(absent_packages(states)).encode()
    # The kinds of changes differ, so that webhooks can select them.
    changed = put_notes(rows, [MISSING], {mcp_id: [Note(MISSING, body=missing)] if missing else []}, SENT[MISSING])
    return put_notes(rows, (CHECKS, TEXTS), {mcp_id: notes}, "check") + changed > 0
