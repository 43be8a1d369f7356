"""Views of ends of life. The metadata of fields are keywords of JSON Schema."""

from __future__ import annotations

from typing import Literal, get_args

from attrs import evolve, field, frozen

from .limits import BRIEF, NAME

State = Literal["planned", "soon", "past", "moved"]
"""Whether the last day is far away, near or past. An entry that has moved to another name is `moved`."""

STATES: tuple[State, ...] = get_args(State)

ENDED = frozenset[State]({"past", "moved"})
"""The states of entries that nobody maintains under their name."""


@frozen
class EndingView:
    """When and how an entry ends."""

    date: str = field(metadata={"description": "Last day of maintenance, or of the move.", "format": "date"})
    state: str = field(
        metadata={
            "description": "Whether the day is near or past.",
            "enum": list(STATES),
        }
    )
    replaced_by: str = field(
        metadata={"description": "Name of the entry in its place; empty for none.", "maxLength": NAME}
    )
    mcp_id: str = field(metadata={"description": "Its id; empty for none."})
    message: str = field(metadata={"description": "Reason and advice; empty for none.", "maxLength": BRIEF})

    @property
    def text(self) -> str:
        """What it says, for clients that know the message of a status only."""
        ended = "" if self.state == "moved" else f"Not maintained after {self.date}."
        other = f"{'Moved to' if self.state == 'moved' else 'Replaced by'} {self.replaced_by}."
        return " ".join(filter(None, (ended, other if self.replaced_by else "", self.message)))[:BRIEF]

    def alone(self) -> EndingView:
        """Return it without the name of the other entry, for readers who may not see that."""
        return evolve(self, replaced_by="", mcp_id="")
