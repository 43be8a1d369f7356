"""Kinds of changes: a change of the log, compared with what was known of the entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from attrs import astuple, define, evolve, field

from ...domain.changes import Change
from ...serialization import encode, restore_entry, restore_indexed
from .queue import KnownEntry
from .rules import WebhookChange


@define
class ReadChanges:
    """What changes of the log have changed: the new state of entries, those that were removed, and the changes."""

    entries: dict[str, KnownEntry] = field(factory=dict)
    removed: set[str] = field(factory=set)
    changes: list[WebhookChange] = field(factory=list)


def known_entries(changes: Sequence[Change], upto: int) -> Sequence[KnownEntry]:
    """Return what is known of the entries of `changes` that have not changed after `upto`."""
    return [entry for change in changes if change.seq <= upto and (entry := _known(change)) is not None]


def read_changes(changes: Sequence[Change], known: Mapping[str, KnownEntry]) -> ReadChanges:
    """Return what `changes`, in their order, have changed of the `known` entries.

    A change has the state of its entry now, not that of its time. So only the first of several changes of an entry has
    kinds, except where the entry was removed since.
    """
    found = ReadChanges()
    for change in changes:
        before = found.entries.get(change.mcp_id)
        if before is None and change.mcp_id not in found.removed:
            before = known.get(change.mcp_id)
        after = _known(change)
        if after is None:
            found.entries.pop(change.mcp_id, None)
            if before is not None or (change.kind == "removed" and change.mcp_id not in found.removed):
                name = before.name if before is not None else ""
                lists = before.lists if before is not None else frozenset(change.lists)
                found.changes.append(WebhookChange(change.seq, name, ("deleted",), lists, lists))
            found.removed.add(change.mcp_id)
        else:
            found.removed.discard(change.mcp_id)
            if before is not None and not after.tools:
                # A check that could not list the tools has not changed them.
                after = evolve(after, tools=before.tools)
            found.entries[change.mcp_id] = after
            kinds, lists = _kinds(change, before, after), before.lists if before is not None else frozenset()
            if kinds or lists != after.lists:
                found.changes.append(WebhookChange(change.seq, after.name, kinds, lists, after.lists))
    return found


def _kinds(change: Change, before: KnownEntry | None, after: KnownEntry) -> tuple[str, ...]:
    is_deprecated = after.status == "deprecated"
    if before is None:
        first = "changed" if change.kind == "changed" else "added"
        return (first, "deprecated") if is_deprecated else (first,)
    kinds = {
        "changed": before.document != after.document,
        "deprecated": is_deprecated and before.status != "deprecated",
        # The first list of tools is no change.
        "tools_changed": bool(before.tools) and before.tools != after.tools,
    }
    return tuple(kind for kind, is_present in kinds.items() if is_present)


def _known(change: Change) -> KnownEntry | None:
    if change.body is None:
        return None
    entry = restore_entry(change.body)
    tools = () if change.verified is None else restore_indexed(change.verified).tools
    listed = encode(sorted(map(astuple, tools))) if tools else b""
    return KnownEntry(
        change.mcp_id,
        entry.name,
        _digest(change.body),
        _digest(listed) if listed else b"",
        entry.status[:20],
        frozenset(change.lists),
    )


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=8).digest()
