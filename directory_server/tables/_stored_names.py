"""What is stored of a name while a transaction changes it."""

from __future__ import annotations

from attrs import define, field, frozen

from ..domain.entries import mcp_id_of
from ..domain.versions import Record
from ..domain.visibility import Flags, Visibility


@frozen
class StoredRecord:
    """A record, with the id of its row and the bytes of its document. `record.id` is the order of writing."""

    row: int
    size: int
    record: Record


@define
class StoredName:
    """A name with its records by source and version, as they are now, and its visibility `before` the transaction.

    `before` has ids of rows. `seq` is the latest change, 0 if there is none.
    """

    name: str
    before: Visibility = field(factory=Visibility)
    seq: int = 0
    flags: Flags = field(factory=Flags)
    records: dict[tuple[str, str], StoredRecord] = field(factory=dict)

    @property
    def mcp_id(self) -> str:
        return mcp_id_of(self.name)

    def of_source(self, source: str) -> list[StoredRecord]:
        """Return the records of `source`."""
        return [stored for stored in self.records.values() if stored.record.source == source]
