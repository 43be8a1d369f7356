"""End of life of entries: the last day, the entry that replaces one, and a message, as a note on the entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Literal

from attrs import evolve, frozen

from ..texts.sanitize import clean_line
from .ending_views import EndingView, State
from .entries import check_name, mcp_id_of
from .errors import BadInput, Forbidden
from .limits import NAME
from .marks import marks_of
from .notes import ENDING, Note

Setter = Literal["operator", "publisher"]
"""Who sets the end of life of an entry. A publisher changes nothing that an operator has set."""

MAX_MESSAGE = 500
"""Characters of the message, as of that of a status in the official registry."""

DAY = 86_400.0

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@frozen
class Ending:
    """The end of life of the entry `name` after a `date` (RFC 3339, full-date)."""

    name: str
    date: str
    replaced_by: str = ""
    message: str = ""
    setter: Setter = "operator"
    state: State = "planned"

    @property
    def mcp_id(self) -> str:
        """The id of the entry that ends."""
        return mcp_id_of(self.name)

    def at(self, now: float, seconds: float) -> Ending:
        """Return it in its state at `now`, in seconds since the epoch; `seconds` before the last day it is near."""
        begins = datetime.combine(date.fromisoformat(self.date), datetime.min.time(), UTC).timestamp()
        state: State = "past" if begins + DAY <= now else "soon" if begins - seconds <= now else "planned"
        return self if self.state == "moved" else evolve(self, state=state)

    def check_setter(self, setter: Setter) -> None:
        """Raise Forbidden if `setter` may not change what is set."""
        if setter == "publisher" and self.setter == "operator":
            raise Forbidden(
                f"The operator of this directory has set the end of life of {self.name!r}.", code="ending_of_operator"
            )

    def note(self) -> Note:
        reason = f"{self.date} {self.setter} {self.state}"
        return Note(ENDING, reason, other=self.replaced_by, body=self.message.encode() or None)

    def view(self) -> EndingView:
        other = self.replaced_by
        return EndingView(
            self.date, self.state, clean_line(other, NAME), mcp_id_of(other) if other else "", self.message
        )


def new_ending(name: str, day: str, replaced_by: str, message: str, setter: Setter, state: State = "planned") -> Ending:
    """Return the end of life of the entry `name`. Raises BadInput; the message says which field is wrong."""
    if not _is_date(day):
        raise BadInput("date: must be a date such as 2027-01-31.", code="ending_date_wrong")
    other, text = replaced_by.strip(), " ".join(message.split())
    if other == name or (state == "moved" and not other):
        raise BadInput("replaced_by: must be the name of another entry.", code="ending_replaced_by_wrong")
    for entry_name in filter(None, (name, other)):
        check_name(entry_name)
    if len(text) > MAX_MESSAGE or not text.isprintable():
        raise BadInput(f"message: must be at most {MAX_MESSAGE} printable characters.", code="ending_message_wrong")
    # Models read it.
    if any(marks_of([("message", text)])):
        raise BadInput("message: must not contain text that may command a model.", code="ending_message_marked")
    return Ending(name, day, other, text, setter, state)


def unknown_entry(field: str, name: str) -> BadInput:
    """Return the error of a name in `field` that no entry has."""
    return BadInput(f"{field}: no entry has the name {name[:200]!r}.", code=f"ending_{field}_unknown")


def ending_of(name: str, notes: Iterable[Note]) -> Ending | None:
    """Return the end of life that `notes` on the entry `name` say, None if they say none."""
    for note in notes:
        if note.kind == ENDING:
            words: Any = note.reason.split(" ")
            day, setter, state = words
            return Ending(name, day, note.other, (note.body or b"").decode(), setter, state)
    return None


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False


def new_moves(old: str, new: str, names: Sequence[str]) -> Mapping[str, str]:
    """Return the new names of those of `names` that move with the name or namespace (`com.acme/*`) `old` to `new`.

    Raises BadInput.
    """
    if old.endswith("/*") != new.endswith("/*"):
        raise BadInput(
            "new_name: must be a namespace such as com.acme/* if the old one is.", code="move_new_name_wrong"
        )
    if not old.endswith("/*"):
        return {old: new}
    prefix = old.removesuffix("*")
    return {name: new.removesuffix("*") + name.removeprefix(prefix) for name in names if name.startswith(prefix)}
