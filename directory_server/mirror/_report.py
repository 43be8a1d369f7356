"""The report of a sync run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import define, field

from ..domain.changes import PublishReport
from ..texts.wording import entries

MAX_REASONS = 100
"""Rejected entries whose reasons a report lists."""

MAX_SKEW = 60
"""Seconds by which clocks may differ without a note."""

MAX_KINDS = 6
"""Media types of skipped entries that a report names."""


@define
class SyncReport(PublishReport):
    """Counts of a sync run so far. `expected` is the number of names in the last full sync, 0 if unknown.

    `entries` counts versions, and `names` their names. `look_ups` counts the names whose versions were read apart.
    `nameless` counts the `rejected` entries whose name is unknown too. `skipped` counts the entries of a catalog that
    have no known kind, by their media type. `claimed` counts the entries that, as an upstream without proof says, the
    official registry lists. `skew` is how far the upstream's clock is ahead, in seconds.
    """

    full: bool = False
    resumed: bool = False
    expected: int = 0
    pages: int = 0
    entries: int = 0
    names: int = 0
    look_ups: int = 0
    removed: int = 0
    rejected: int = 0
    nameless: int = 0
    reasons: list[str] = field(factory=list)
    skipped: Counter[str] = field(factory=Counter)
    skew: int = 0
    claimed: int = 0

    @property
    def changes(self) -> int:
        """The number of entries that were added, changed or removed."""
        return self.added + self.changed + self.removed

    @property
    def note(self) -> str:
        """What the operator should know: of a full run claims without proof, skipped entries by type, the clock."""
        notes = []
        if self.claimed and self.full:
            notes.append(f"Not counted as official, since upstream.official is not set: {entries(self.claimed)}.")
        shown = [f"{number:,} {kind}" for kind, number in self.skipped.most_common(MAX_KINDS)]
        if others := self.skipped.total() - sum(number for _, number in self.skipped.most_common(MAX_KINDS)):
            shown.append(f"{others:,} others")
        if shown:
            notes.append(f"Skipped: {', '.join(shown)}.")
        if abs(self.skew) > MAX_SKEW:
            order = "behind" if self.skew > 0 else "ahead of"
            notes.append(f"Our clock is {abs(self.skew):,} seconds {order} that of the upstream.")
        return " ".join(notes)

    def reject(self, reasons: Sequence[str]) -> None:
        """Count rejected entries and list their reasons."""
        self.rejected += len(reasons)
        self.reasons += reasons[: max(MAX_REASONS - len(self.reasons), 0)]
