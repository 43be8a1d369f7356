"""Notes on entries: what features have found and operators have decided, beside the documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import field, frozen

from .marks import KINDS

LOOKALIKE = "lookalike"
"""The name, package or remote of the entry imitates, or repeats, that of another entry."""

DUPLICATE = "duplicate"
"""The entry repeats that of another source, with the same owner, under a name that is spelt in another way."""

ENTRY_FLAGS = (LOOKALIKE, DUPLICATE)
"""The kinds of flags that are notes."""

FLAGS = (*ENTRY_FLAGS, *KINDS)
"""The kinds of flags: those of findings about entries, and of marks of their texts. They are part of the public API."""

NO_FLAG = "none"
"""The value of the filter `flag` for entries without flags."""


@frozen
class FlagView:
    """A flag of an entry, or of another entry that names this one."""

    kind: str = field(metadata={"description": "Kind of the flag.", "enum": list(FLAGS)})
    reason: str = field(metadata={"description": "What was found: a word that does not change."})
    since: str = field(metadata={"description": "When it was found (RFC 3339).", "format": "date-time"})
    mcp_id: str = field(metadata={"description": "Id of the other entry; empty if the flag names none."})
    server_name: str = field(metadata={"description": "Registered name of the other entry; empty for none."})
    is_original: bool = field(
        metadata={"description": "Whether the other entry has the flag, and this one is the original."}
    )


ACCEPTED = "accepted"
"""The marks of the texts of an entry that an operator has accepted."""

CHECKS = "checks"
"""What the index holds of the checks of an entry."""

ENDING = "ending"
"""When an entry ends, and what replaces it (domain.endings)."""

FORMER = "former"
"""A former name of an entry, which has moved: `other`. The entry under that name has a note of ENDING."""

MISSING = "missing"
"""The packages of an entry that their registries do not have, by its checks: one on each line."""

TEXTS = "texts"
"""The texts of the package of an entry that a check has read."""

IN_MEMORY = (*ENTRY_FLAGS, ACCEPTED, ENDING, MISSING)
"""The kinds that requests read, from memory. Few entries have them."""

SENT = {ENDING: "ending", MISSING: "package"}
"""Kinds whose changes webhooks can select, by the cause of these changes.

`ending`: the last day has come near, or is past, or the entry has moved. `package`: a package is missing, or found.
"""


@frozen
class Note:
    """A note on an entry, of a kind. An entry has one of each kind, or one for each `other`.

    `reason` is a key of texts, or other short text of the kind. `since` is in seconds since the epoch. `other` is the
    name of another entry that the note is about, empty for none. `body` is encoded; the long body that several notes
    share has an id, `body_id`. `name` is that of the entry with the note, as it is read from the storage.
    """

    kind: str
    reason: str = ""
    since: float = 0.0
    other: str = ""
    body: bytes | None = None
    body_id: str | None = None
    name: str = field(default="", eq=False)


def accepted_marks(notes: Iterable[Note]) -> Sequence[str]:
    """Return the ids of the marks that a note of ACCEPTED among `notes` has."""
    return [mark_id for note in notes if note.kind == ACCEPTED for mark_id in note.reason.split()]


def missing_packages(notes: Iterable[Note]) -> Sequence[str]:
    return [line for note in notes if note.kind == MISSING for line in (note.body or b"").decode().splitlines()]
