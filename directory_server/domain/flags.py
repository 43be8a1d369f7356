"""Flags of entries: what this directory has found against an entry, by its kind."""

from __future__ import annotations

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
