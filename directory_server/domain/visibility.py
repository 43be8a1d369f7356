"""Visibility: curation flags, which record of a name is visible, and what a change of records or flags does to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from attrs import frozen

from .changes import ChangeKind
from .versions import OWN_SOURCES, REMOVED, Record, preferred

Mark = Literal["hidden", "pinned", "allowed"]


@frozen
class CuratedName:
    """A server name with its curation flags.

    `local` is whether the operator has an entry of his own for it, `published` whether a publisher token has one.
    `rule` is the name of the rule of the policy that hides it, empty if none does.
    """

    name: str
    local: bool = False
    published: bool = False
    hidden: bool = False
    pinned: bool = False
    allowed: bool = False
    rule: str = ""


COUNT_DELTA: Mapping[ChangeKind, int] = MappingProxyType({"added": 1, "changed": 0, "removed": -1, "tools_changed": 0})
"""The difference that a change makes to the number of visible entries."""


@frozen
class Flags:
    """The curation flags of a name, and the name of the rule of the policy that hides it; empty if none does."""

    hidden: bool = False
    pinned: bool = False
    allowed: bool = False
    rule: str = ""

    @property
    def is_hidden(self) -> bool:
        return self.hidden or bool(self.rule)

    @property
    def are_decided(self) -> bool:
        """Whether the operator has decided about the name, so that no rule applies to it."""
        return self.hidden or self.pinned or self.allowed


@frozen
class Visibility:
    """The ids and fingerprints of the preferred and of the visible record of a name, None if there is none.

    `curated` is whether the name is pinned, allowed, local or published.
    """

    visible_id: int | None = None
    visible_fingerprint: bytes | None = None
    preferred_id: int | None = None
    preferred_fingerprint: bytes | None = None
    pinned: bool = False
    curated: bool = False


@frozen
class Transition:
    """The visibility of a name `after` a change of its records or flags.

    `kind` is the kind of change to the visible entry, None if it is the same. `is_update` is whether the name counts as
    updated in a listing, which also has deleted entries. `is_moved` is whether other records have the same content.
    """

    after: Visibility
    kind: ChangeKind | None
    is_update: bool
    is_moved: bool


def transition(before: Visibility, flags: Flags, records: Sequence[Record], sources: Sequence[str]) -> Transition:
    """Return the transition of a name from `before` to its present `flags` and `records`.

    `sources` is the order of precedence, as in `preferred`.
    """
    after = resolve(flags, records, sources)
    kind = _kind(before, after)
    is_update = kind is not None or (before.preferred_fingerprint, before.curated) != (
        after.preferred_fingerprint,
        after.curated,
    )
    is_moved = (before.visible_id, before.preferred_id) != (after.visible_id, after.preferred_id)
    return Transition(after, kind, is_update, is_moved)


def resolve(flags: Flags, records: Sequence[Record], sources: Sequence[str]) -> Visibility:
    """Return the visibility of a name: the preferred record is visible unless it is deleted or the name is hidden.

    Removed entries are listed as deleted, and visible: their names show the reason.
    """
    chosen = preferred(records, sources)
    is_gone = chosen is None or flags.is_hidden or (chosen.deleted and chosen.source != REMOVED)
    visible = None if is_gone else chosen
    return Visibility(
        visible_id=visible.id if visible else None,
        visible_fingerprint=visible.fingerprint if visible else None,
        preferred_id=chosen.id if chosen else None,
        preferred_fingerprint=chosen.fingerprint if chosen else None,
        pinned=flags.pinned,
        curated=flags.pinned or flags.allowed or any(record.source in OWN_SOURCES for record in records),
    )


def _kind(before: Visibility, after: Visibility) -> ChangeKind | None:
    if before.visible_fingerprint is None:
        return None if after.visible_fingerprint is None else "added"
    if after.visible_fingerprint is None:
        return "removed"
    same = (before.visible_fingerprint, before.pinned) == (after.visible_fingerprint, after.pinned)
    return None if same else "changed"
