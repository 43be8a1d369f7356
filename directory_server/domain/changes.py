"""Change-log records and outcomes of publishing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import define, frozen

from .endings import Ending, ending_of
from .notes import CHECKS, ENTRY_FLAGS, TEXTS, Note, accepted_marks

ChangeKind = Literal["added", "changed", "removed", "tools_changed"]
"""Kinds of changes of visible entries. `tools_changed`: a remote lists other tools, or describes them otherwise."""

Cause = str
"""What has changed of an entry whose kind of change is "changed"; empty for others, and in logs of older versions.

`document` is another document, `status` one by which the entry became deprecated. `tools` is the kind `tools_changed`,
`check` another result. `list`: the entry has joined or left one. `judgement`: a flag, a mark or a pin.
Others are those of notes (`SENT`).
"""

Outcome = Literal["added", "changed", "unchanged", "too_old", "over_limit", "exists"]
"""Outcome of publishing an entry.

An entry that is `too_old` (older than the stored versions of its name) or `over_limit` (beyond the limits of its
source) is not stored. Neither is a version that must be new and `exists`.
"""


@define
class PublishReport:
    """Counts of the outcomes so far of publishing entries."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    too_old: int = 0
    over_limit: int = 0

    @property
    def published(self) -> int:
        """The number of entries that were published, whatever the outcome."""
        return self.added + self.changed + self.unchanged + self.too_old + self.over_limit

    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Add the outcomes of published entries."""
        self.added += outcomes.count("added")
        self.changed += outcomes.count("changed")
        self.unchanged += outcomes.count("unchanged")
        self.too_old += outcomes.count("too_old")
        self.over_limit += outcomes.count("over_limit")


@frozen
class Change:
    """A record of the change log: one visible entry was added, changed or removed. `seq` orders all records.

    `name` is that of the entry, `cause` what has changed of it. `body` is the encoded entry and `analysed` the result
    of an Analysis; both are None for a removed entry. A `pinned` entry ranks first among the hits of a search. `notes`
    are what features and operators say of the entry, by kind. `lists` are the lists that the entry is in, `joined` and
    `left` those that it joined and left with this change. Those of a removed entry are its last ones.
    """

    seq: int
    kind: ChangeKind
    mcp_id: str
    body: bytes | None
    analysed: bytes | None
    pinned: bool = False
    notes: tuple[Note, ...] = ()
    lists: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    name: str = ""
    cause: Cause = ""

    @property
    def flags(self) -> Sequence[str]:
        """The kinds of the flags of the entry."""
        return (*dict.fromkeys(note.kind for note in self.notes if note.kind in ENTRY_FLAGS),)

    @property
    def accepted(self) -> Sequence[str]:
        """The ids of the marks of its texts that an operator has accepted."""
        return accepted_marks(self.notes)

    @property
    def ending(self) -> Ending | None:
        """The end of life of the entry, None if none is set."""
        return ending_of(self.name, self.notes)

    @property
    def verified(self) -> bytes | None:
        """What the index holds of its checks, encoded; None if the entry is unverified."""
        return next((note.body for note in self.notes if note.kind == CHECKS), None)

    @property
    def texts(self) -> bytes | None:
        """The texts of its package that a check has read, encoded, or None."""
        return next((note.body for note in self.notes if note.kind == TEXTS), None)
