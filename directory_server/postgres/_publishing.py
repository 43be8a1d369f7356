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
from ._connection import NOW, Cursor, Statement
from ._visibility import StoredName, StoredRecord, lock_names, visibility_updates

BATCH = 500
"""Most records of a transaction, unless one name has more."""

BATCH_BYTES = 8_000_000
"""Bytes of documents after which a batch ends."""

_UNWRITTEN = 2**62
"""Number from which the records of a batch count as written: after all stored ones."""

# So that the statements that refer to new rows need not wait for the one that adds them.
_IDS = "SELECT nextval(pg_get_serial_sequence('record', 'id')) FROM generate_series(1, $1::int)"

# The numbers of `written` follow the order of the batch.
_STORE = f"""
    INSERT INTO record
        (id, name, source, version, latest, deleted, published_at, fingerprint, body, created_at, updated_at)
    SELECT id, name, $1, version, latest, deleted, published_at, fingerprint, body, {NOW}, {NOW}
    FROM unnest(
        $2::bigint[], $3::text[], $4::text[], $5::boolean[], $6::boolean[], $7::double precision[], $8::bytea[],
        $9::bytea[]
    ) WITH ORDINALITY AS given (id, name, version, latest, deleted, published_at, fingerprint, body, position)
    ORDER BY position
    ON CONFLICT (name, source, version) DO UPDATE SET
        written = excluded.written, latest = excluded.latest, deleted = excluded.deleted,
        published_at = excluded.published_at, fingerprint = excluded.fingerprint, body = excluded.body,
        updated_at = excluded.updated_at
"""

# A mirrored source may not update the previous latest version itself.
_OUTDATE = "UPDATE record SET latest = false WHERE id = ANY($1::bigint[])"

_DROP = "DELETE FROM record WHERE id = ANY($1::bigint[])"

_STORED = "SELECT names, bytes FROM stored WHERE source = $1"

# In the order of fingerprints, so that two transactions cannot wait for each other.
_ANALYSED = """
    INSERT INTO analysed (fingerprint, version, body)
    SELECT fingerprint, $1, body FROM unnest($2::bytea[], $3::bytea[]) AS given (fingerprint, body) ORDER BY fingerprint
    ON CONFLICT DO NOTHING
"""

# The planner knows less than a tenth of the entries, as in the first import. Autovacuum comes a minute later.
_IS_STALE = """
    SELECT names > 1000 AND names > 10 * greatest(reltuples, 0)
    FROM (SELECT sum(names) AS names FROM stored) AS all_sources, pg_class WHERE oid = 'record'::regclass
"""

_KNOWN = """
    SELECT position, record.fingerprint IS NOT DISTINCT FROM given.fingerprint AND record.latest = given.latest,
        EXISTS (SELECT 1 FROM analysed WHERE analysed.fingerprint = given.fingerprint AND analysed.version = $6)
    FROM unnest($2::text[], $3::text[], $4::boolean[], $5::bytea[])
        WITH ORDINALITY AS given (name, version, latest, fingerprint, position)
    LEFT JOIN record ON record.name = given.name AND record.source = $1 AND record.version = given.version
    ORDER BY position
"""


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


def batches(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Yield the positions of `rows` in batches of about BATCH records and BATCH_BYTES; a name is in one batch."""
    names: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        names.setdefault(row.name, []).append(number)
    batch: list[int] = []
    size = 0
    for numbers in names.values():
        added = sum(len(rows[number].body) for number in numbers)
        if batch and (len(batch) + len(numbers) > BATCH or size + added > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch += numbers
        size += added
    if batch:
        yield batch


def known(cursor: Cursor, source: str, rows: Sequence[Row], analysis: str) -> list[Known]:
    """Return what is known of each of `rows`, all of `source`; `analysis` is the version of the Analysis."""
    fields = [
        source,
        [row.name for row in rows],
        [row.record.version for row in rows],
        [row.record.latest for row in rows],
        [row.record.fingerprint for row in rows],
        analysis,
    ]
    return [Known(bool(same), analysed) for _, same, analysed in cursor.all(_KNOWN, *fields)]


def publish(
    cursor: Cursor,
    rows: Sequence[Row],
    sources: Sequence[str],
    limits: Mapping[str, SourceLimits],
    analysis: str,
    *,
    new: bool = False,
) -> Published:
    """Write `rows`, all of one source, in the transaction of `cursor`, and commit it.

    `sources` is the order of precedence, `analysis` the version of the Analysis. With `new`, no stored version is
    replaced or dropped. It takes two round trips.
    """
    source = rows[0].record.source
    numbers: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        numbers.setdefault(row.name, []).append(number)
    locked = lock_names(cursor, numbers, (_STORED, [source]), (_IDS, [len(rows)]))
    stored_usage, ids = locked.rows
    batch = _Batch(source, limits.get(source), Usage(*next(iter(stored_usage), ())), (row for (row,) in ids))
    outcomes: dict[int, Outcome] = {}
    for name, stored in locked.names.items():
        add = batch.add_new if new else batch.publish
        done = add(stored, [rows[number] for number in numbers[name]])
        outcomes |= zip(numbers[name], done, strict=True)
    is_stale = False
    if batch.touched:
        new_analyses = {row.record.fingerprint: row.analysed for row in batch.rows.values() if row.analysed is not None}
        *_, [(is_stale,)] = cursor.finish(
            *batch.statements(),
            keeping(analysis, new_analyses),
            *visibility_updates(locked, batch.touched, sources),
            locked.notification(),
            (_IS_STALE, ()),
        )
    return Published([outcomes[number] for number in range(len(rows))], bool(is_stale))


def keeping(version: str, analyses: Mapping[bytes, bytes]) -> Statement:
    """Return the statement that stores `analyses` by the fingerprints of their documents, for `version` of Analysis."""
    return _ANALYSED, [version, list(analyses), list(analyses.values())]


@define
class _Batch:
    """The records of one source in a transaction: `rows` to write, and ids of rows to drop or to mark as not latest.

    `ids` are for new rows. `touched` has the names whose visibility may change.
    """

    source: str
    limits: SourceLimits | None
    usage: Usage
    ids: Iterator[int]
    rows: dict[tuple[str, str], Row] = field(factory=dict)
    touched: list[StoredName] = field(factory=list)
    _dropped: list[int] = field(factory=list)
    _outdated: list[int] = field(factory=list)
    _numbers: Iterator[int] = field(factory=lambda: count(_UNWRITTEN))

    def publish(self, stored: StoredName, rows: Sequence[Row]) -> list[Outcome]:
        """Return the outcomes of `rows`, all of one name, after changing the records of `stored` accordingly."""
        if all(is_same(self._found(stored, row), row.record) for row in rows):
            return ["unchanged"] * len(rows)
        self.touched.append(stored)
        before = {each.row: each for each in stored.of_source(self.source)}
        excess = excess_versions([each.record for each in before.values()], [row.record for row in rows])
        done = [self._store(stored, row) if row.record.version not in excess else "too_old" for row in rows]
        for record in excess_records(each.record for each in stored.of_source(self.source)):
            self._drop(stored, stored.records.pop((self.source, record.version)))
        self._outdated += [
            each.row
            for each in stored.of_source(self.source)
            if (stored.name, each.record.version) not in self.rows
            and not each.record.latest
            and before[each.row].record.latest
        ]
        return done

    def add_new(self, stored: StoredName, rows: Sequence[Row]) -> list[Outcome]:
        """Return the outcomes of `rows`, all of one name, after adding those whose versions are not stored."""
        self.touched.append(stored)
        return [
            rejection([each.record for each in stored.of_source(self.source)], row.record) or self._store(stored, row)
            for row in rows
        ]

    def statements(self) -> Iterator[Statement]:
        """Yield the statements that write the records."""
        if self._dropped:
            yield _DROP, [self._dropped]
        if self._outdated:
            yield _OUTDATE, [self._outdated]
        if not self.rows:
            return
        names = {each.name: each for each in self.touched}
        found = {key: names[key[0]].records[self.source, key[1]] for key in self.rows}
        keys = sorted(self.rows, key=lambda key: found[key].record.id)
        records = [found[key].record for key in keys]
        yield (
            _STORE,
            [
                self.source,
                [found[key].row for key in keys],
                [name for name, _ in keys],
                [version for _, version in keys],
                [each.latest for each in records],
                [each.deleted for each in records],
                [each.published_at for each in records],
                [each.fingerprint for each in records],
                [self.rows[key].body for key in keys],
            ],
        )

    def _found(self, stored: StoredName, row: Row) -> Record | None:
        found = stored.records.get((self.source, row.record.version))
        return found.record if found else None

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
            for other, each in stored.records.items():
                if other[0] == self.source:
                    stored.records[other] = evolve(each, record=outdated(each.record))
        stored.records[key] = StoredRecord(
            before.row if before else next(self.ids), size, evolve(row.record, id=next(self._numbers))
        )
        self.rows[stored.name, row.record.version] = row
        return "changed" if before else "added"

    def _drop(self, stored: StoredName, excess: StoredRecord) -> None:
        self._dropped.append(excess.row)
        self.rows.pop((stored.name, excess.record.version), None)
        left = bool(stored.of_source(self.source))
        self.usage = Usage(self.usage.names - (not left), self.usage.bytes - excess.size)
