"""The entries, curation flags and upstream states that in-memory adapters share, and the change of a name's entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from secrets import token_hex

from attrs import define, evolve, field, frozen

from ..domain.changes import ChangeKind
from ..domain.entries import mcp_id_of
from ..domain.upstreams import FinishedRun, Lease, UpstreamState
from ..domain.versions import Record
from ..domain.visibility import Flags, Visibility, transition


@define
class StoredRecord:
    """A version of a name from one source. Times are seconds since the epoch; `analysis` is a version of Analysis."""

    name: str
    record: Record
    body: bytes
    created_at: float
    updated_at: float
    analysis: str | None = None
    analysed: bytes | None = None

    @property
    def published_at(self) -> float:
        """When its source published it, else when it was first stored."""
        return self.created_at if self.record.published_at is None else self.record.published_at


@define
class StoredName:
    """A name: its flags, its visibility and its latest change."""

    flags: Flags = field(factory=Flags)
    visibility: Visibility = field(factory=Visibility)
    seq: int = 0
    updated_at: float = 0.0


@frozen
class LoggedChange:
    """A record of the change log."""

    seq: int
    kind: ChangeKind
    name: str


@define(eq=False)
class Catalogue:
    """Entries and their change log. Adapters with the same catalogue act as processes with one database.

    `now` returns seconds since the epoch. Records are stored by name, source and version.
    """

    now: Callable[[], float]
    log_id: str = field(factory=lambda: token_hex(6))
    records: dict[str, dict[tuple[str, str], StoredRecord]] = field(factory=dict)
    names: dict[str, StoredName] = field(factory=dict)
    log: list[LoggedChange] = field(factory=list)
    upstreams: dict[str, UpstreamState] = field(factory=dict)
    runs: dict[str, Sequence[FinishedRun]] = field(factory=dict)
    seen: dict[str, dict[str, bool]] = field(factory=dict)
    leases: dict[str, Lease] = field(factory=dict)
    verified: dict[str, bytes] = field(factory=dict)
    """Encoded verifications of entries for the index, by name."""
    _written: int = 0

    def new_number(self) -> int:
        """Return the id of the next record that is written."""
        self._written += 1
        return self._written

    def of_name(self, name: str) -> list[StoredRecord]:
        """Return the records of `name`, of all sources."""
        return list(self.records.get(name, {}).values())

    def of_source(self, source: str) -> Iterator[StoredRecord]:
        """Yield the records of `source`."""
        for records in self.records.values():
            yield from (each for each in records.values() if each.record.source == source)

    def preferred(self, name: str) -> StoredRecord | None:
        """Return the preferred record of `name`, None if it has none or is hidden."""
        stored = self.names.get(name, StoredName())
        return None if stored.flags.hidden else self._find(name, stored.visibility.preferred_id)

    def visible(self, name: str) -> StoredRecord | None:
        """Return the visible record of `name`, or None."""
        return self._find(name, self.names.get(name, StoredName()).visibility.visible_id)

    def visible_names(self) -> dict[str, str]:
        """Return the names of the visible entries by their ids."""
        return {mcp_id_of(name): name for name, each in self.names.items() if each.visibility.visible_id is not None}

    @contextmanager
    def updating(self, name: str, sources: Sequence[str]) -> Iterator[StoredName]:
        """Yield the stored name; at the end of the `with` block, store its new visibility and log a visible change.

        The block writes records or flags of `name`. `sources` is the order of precedence.
        """
        stored = self.names.get(name) or StoredName()
        before = evolve(stored.visibility, pinned=stored.flags.pinned)
        yield stored
        result = transition(before, stored.flags, [each.record for each in self.of_name(name)], sources)
        stored.visibility = result.after
        if result.kind is not None:
            stored.seq = len(self.log) + 1
            self.log.append(LoggedChange(stored.seq, result.kind, name))
        if result.is_update:
            stored.updated_at = self.now()
        self.names[name] = stored

    def log_change(self, name: str) -> None:
        """Log a change of the entry `name`, if it is visible, that is not one of its records or flags."""
        stored = self.names.get(name)
        if stored is not None and stored.visibility.visible_id is not None:
            stored.seq = len(self.log) + 1
            self.log.append(LoggedChange(stored.seq, "changed", name))

    def _find(self, name: str, number: int | None) -> StoredRecord | None:
        return next((each for each in self.of_name(name) if each.record.id == number), None)
