"""Writing a batch of records: the domain's rules on what is stored, then one statement for each kind of write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from attrs import define, evolve, field, frozen

from ..domain.changes import Outcome
from ..domain.publishing import (
    SourceLimits,
    Usage,
    excess_records,
    excess_versions,
    has_room,
    is_same,
    outdated,
    rejection,
)
from ..domain.versions import Record
from ._dialects import Engine
from ._locking import lock_names
from ._names import StoredName, StoredRecord
from ._tables import Rows, Statement
from ._visibility import find_deprecated, reads_records, visibility_updates

_UNWRITTEN = 2**62
"""Number from which the records of a batch count as written: after all stored ones."""

# `written` follows the order of the batch. In SQLite, a record that is written again gets a new, highest id.
_STORE = """
    INSERT INTO record
        (id, name, source, version, latest, deleted, published_at, fingerprint, body, created_at, updated_at)
    SELECT id, name, source, version, latest, deleted, published_at, fingerprint, body, clock_seconds(), clock_seconds()
    FROM input(
        id bigint, name text, source text, version text, latest boolean, deleted boolean,
        published_at double precision, fingerprint bytea, body bytea
    ) WHERE true
    ON CONFLICT (name, source, version) DO UPDATE SET
        written = excluded.written, latest = excluded.latest, deleted = excluded.deleted,
        published_at = excluded.published_at, fingerprint = excluded.fingerprint, body = excluded.body,
        updated_at = excluded.updated_at
"""

# A mirrored source may not update the previous latest version itself.
_OUTDATE = "UPDATE record SET latest = false WHERE id = ANY(:ids)"

_DROP = "DELETE FROM record WHERE id = ANY(:ids)"

_STORED = "SELECT names, bytes FROM stored WHERE source = :source"

_KNOWN = "SELECT name, version, latest, fingerprint FROM record WHERE source = :source AND name = ANY(:names)"


@frozen
class Row:
    """A record that is to be written, with its document, and its analysis unless that is stored already."""

    name: str
    record: Record
    body: bytes
    analysed: bytes | None = None


@frozen
class Known:
    """Whether a stored record equals a row, and whether the analysis of the row's document is stored."""

    is_same: bool
    is_analysed: bool


@frozen
class Published:
    """The outcomes of rows in order, and whether the planner should be told about the new rows."""

    outcomes: Sequence[Outcome]
    is_stale: bool


def batches(rows: Sequence[Row], engine: Engine) -> Iterator[list[int]]:
    """Yield the positions of `rows` in the batches of transactions; a name is in one batch."""
    names: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        names.setdefault(row.name, []).append(number)
    batch: list[int] = []
    size = 0
    for numbers in names.values():
        added = sum(len(rows[number].body) for number in numbers)
        if batch and (len(batch) + len(numbers) > engine.batch or size + added > engine.batch_bytes):
            yield batch
            batch, size = [], 0
        batch += numbers
        size += added
    if batch:
        yield batch


def known(rows: Rows, batch: Sequence[Row], analysis: str, engine: Engine) -> list[Known]:
    """Return what is known of each of `batch`, all of one source; `analysis` is the version of the Analysis."""
    names = sorted({row.name for row in batch})
    statements: list[Statement] = [(_KNOWN, {"source": batch[0].record.source, "names": names})]
    if engine.known_analyses is not None:
        fingerprints = [row.record.fingerprint for row in batch]
        statements.append((engine.known_analyses, {"version": analysis, "fingerprints": fingerprints}))
    records, *analysed = rows.together(*statements)
    stored = {(name, version): (fingerprint, bool(latest)) for name, version, latest, fingerprint in records}
    has_analysis = {fingerprint for fingerprints in analysed for (fingerprint,) in fingerprints}
    return [
        Known(
            stored.get((row.name, row.record.version)) == (row.record.fingerprint, row.record.latest),
            row.record.fingerprint in has_analysis,
        )
        for row in batch
    ]


def publish(
    rows: Rows,
    batch: Sequence[Row],
    engine: Engine,
    sources: Sequence[str],
    limits: Mapping[str, SourceLimits],
    analysis: str,
    *,
    new: bool = False,
) -> Published:
    """Write `batch`, all of one source, in the transaction of `rows`, and commit it.

    `sources` is the order of precedence, `analysis` the version of the Analysis. With `new`, no stored version is
    replaced or dropped. It takes two round trips.
    """
    source = batch[0].record.source
    numbers: dict[str, list[int]] = {}
    for number, row in enumerate(batch):
        numbers.setdefault(row.name, []).append(number)
    locked = lock_names(rows, numbers, (_STORED, {"source": source}), (engine.new_ids, {"count": len(batch)}))
    stored_usage, ids = locked.rows
    writing = _Batch(
        source,
        limits.get(source),
        Usage(*next(iter(stored_usage), ())),
        (row for (row,) in ids),
        engine.keeps_ids,
    )
    outcomes: dict[int, Outcome] = {}
    for name, stored in locked.names.items():
        add = writing.add_new if new else writing.publish
        done = add(stored, [batch[number] for number in numbers[name]])
        outcomes |= zip(numbers[name], done, strict=True)
    is_stale = False
    if writing.touched:
        statements = list(writing.statements(engine, analysis))
        if reads_records(rows, locked):
            find_deprecated(rows, writing.touched, sources)
            rows.together(*statements)
            statements = []
        results = rows.finish(
            *statements,
            *visibility_updates(rows, locked, writing.touched, sources),
            locked.notification(),
            *([] if engine.is_stale is None else [(engine.is_stale, {})]),
        )
        is_stale = engine.is_stale is not None and bool(results[-1][0][0])
    return Published([outcomes[number] for number in range(len(batch))], is_stale)


def storing_analyses(engine: Engine, version: str, analyses: Sequence[tuple[int, bytes, bytes]]) -> Statement:
    """Return the statement that stores `analyses`: the row and fingerprint of a document, and the result."""
    values = [
        {"version": version, "record_id": row, "fingerprint": fingerprint, "body": body}
        for row, fingerprint, body in sorted(analyses, key=lambda analysis: analysis[1])
    ]
    return engine.store_analyses, values


@define
class _Batch:
    """The records of one source in a transaction: `rows` to write, and ids of rows to drop or to mark as not latest.

    `ids` are for new rows, and, if not `keeps_ids`, for rows that are written again. `touched` has the names whose
    visibility may change. `_replaced` has the rows, as they are stored, of the records that are written again.
    """

    source: str
    limits: SourceLimits | None
    usage: Usage
    ids: Iterator[int]
    keeps_ids: bool
    rows: dict[tuple[str, str], Row] = field(factory=dict)
    touched: list[StoredName] = field(factory=list)
    _dropped: list[int] = field(factory=list)
    _outdated: list[int] = field(factory=list)
    _replaced: dict[tuple[str, str], int] = field(factory=dict)
    _numbers: Iterator[int] = field(factory=lambda: count(_UNWRITTEN))

    def publish(self, stored: StoredName, rows: Sequence[Row]) -> list[Outcome]:
        """Return the outcomes of `rows`, all of one name, after changing the records of `stored` accordingly."""
        if all(is_same(self._record_of(stored, row), row.record) for row in rows):
            return ["unchanged"] * len(rows)
        self.touched.append(stored)
        before = {kept.row: kept for kept in stored.of_source(self.source)}
        excess = excess_versions([kept.record for kept in before.values()], [row.record for row in rows])
        done = [self._store(stored, row) if row.record.version not in excess else "too_old" for row in rows]
        for record in excess_records(kept.record for kept in stored.of_source(self.source)):
            self._drop(stored, stored.records.pop((self.source, record.version)))
        self._outdated += [
            kept.row
            for kept in stored.of_source(self.source)
            if (stored.name, kept.record.version) not in self.rows
            and not kept.record.latest
            and before[kept.row].record.latest
        ]
        return done

    def add_new(self, stored: StoredName, rows: Sequence[Row]) -> list[Outcome]:
        """Return the outcomes of `rows`, all of one name, after adding those whose versions are not stored."""
        self.touched.append(stored)
        return [
            rejection([kept.record for kept in stored.of_source(self.source)], row.record) or self._store(stored, row)
            for row in rows
        ]

    def statements(self, engine: Engine, analysis: str) -> Iterator[Statement]:
        """Yield the statements that write the records, and the new analyses for a version of the Analysis."""
        if self._dropped:
            yield _DROP, {"ids": self._dropped}
        if self._outdated:
            yield _OUTDATE, {"ids": self._outdated}
        if not self.rows:
            return
        names = {stored.name: stored for stored in self.touched}
        written = [(row, names[key[0]].records[self.source, key[1]]) for key, row in self.rows.items()]
        written.sort(key=lambda pair: pair[1].record.id)
        yield (
            _STORE,
            [
                {
                    "id": stored.row,
                    "name": row.name,
                    "source": self.source,
                    "version": stored.record.version,
                    "latest": stored.record.latest,
                    "deleted": stored.record.deleted,
                    "published_at": stored.record.published_at,
                    "fingerprint": stored.record.fingerprint,
                    "body": row.body,
                }
                for row, stored in written
            ],
        )
        analyses = [
            (stored.row, row.record.fingerprint, row.analysed) for row, stored in written if row.analysed is not None
        ]
        if analyses:
            yield storing_analyses(engine, analysis, analyses)

    def _record_of(self, stored: StoredName, row: Row) -> Record | None:
        kept = stored.records.get((self.source, row.record.version))
        return kept.record if kept else None

    def _store(self, stored: StoredName, row: Row) -> Outcome:
        key = self.source, row.record.version
        before = stored.records.get(key)
        if is_same(before.record if before else None, row.record):
            return "unchanged"
        size, replaced = len(row.body), before.size if before else None
        has_name = bool(stored.of_source(self.source))
        if not has_room(self.limits, self.usage, row.record, size, replaced=replaced, has_name=lambda: has_name):
            return "over_limit"
        self.usage = Usage(self.usage.names + (not has_name), self.usage.bytes + size - (replaced or 0))
        if row.record.latest:
            for other, kept in stored.records.items():
                if other[0] == self.source:
                    stored.records[other] = evolve(kept, record=outdated(kept.record))
        stored.records[key] = StoredRecord(
            before.row if before and self.keeps_ids else next(self.ids),
            size,
            evolve(row.record, id=next(self._numbers)),
        )
        if before:
            self._replaced.setdefault((stored.name, row.record.version), before.row)
        self.rows[stored.name, row.record.version] = row
        return "changed" if before else "added"

    def _drop(self, stored: StoredName, excess: StoredRecord) -> None:
        key = stored.name, excess.record.version
        self._dropped.append(self._replaced.get(key, excess.row))
        self.rows.pop(key, None)
        left = bool(stored.of_source(self.source))
        self.usage = Usage(self.usage.names - (not left), self.usage.bytes - excess.size)
