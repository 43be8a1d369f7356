"""The index in memory, on tantivy: snapshots that are swapped whole, and pages cut from them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from threading import Lock
from typing import cast

import tantivy
from attrs import evolve, field, frozen
from tantivy import Document, IndexWriter, Schema, SchemaBuilder, Searcher

from ..model import Change, Entry, Hit, Page, Place, Query
from ..ports import Offload
from ._document import FIELDS, fields_of
from ._query import build_query

WRITER_HEAP = 15_000_000
"""Bytes of the writer's buffer, tantivy's least; what does not fit begins another segment."""

_ID, _SLOT = "mcp_id", "slot"


@frozen
class _Row:
    """What is kept of an entry beside the engine, so that no stored document is decoded for a hit."""

    name: str
    hit: Hit


@frozen
class _Snapshot:
    """One state of the index. Nothing in it ever changes: a search that begins on it ends on it.

    A document knows its row by number, the slot. The slot that an entry leaves is `free`, and may be another's in the
    next snapshot, which therefore has rows of its own.
    """

    searcher: Searcher | None = None
    rows: list[_Row] = field(factory=list)
    slots: dict[str, int] = field(factory=dict)
    free: list[int] = field(factory=list)
    generation: int = 0


class TantivyIndex:
    """Fulfil the Index port in memory.

    `apply` writes through `offload`, in a thread, since a commit takes milliseconds and a batch a second. `search`
    reads the snapshot of the moment where it is called, in less than a millisecond, and never waits. The engine and its
    threads are made by the first `apply`: a process that forks before it may do so safely.
    """

    def __init__(self, offload: Offload) -> None:
        self._offload = offload
        self._schema = _schema()
        self._snapshot = _Snapshot()
        self._engine: tantivy.Index | None = None
        self._writing = Lock()

    @property
    def generation(self) -> int:
        return self._snapshot.generation

    def __len__(self) -> int:
        return len(self._snapshot.slots)

    async def apply(self, changes: Sequence[Change]) -> None:
        if changes:
            await self._offload(self._write, changes)

    async def search(self, query: Query) -> Page:
        snapshot = self._snapshot
        if snapshot.searcher is None:
            return Page(())
        words = build_query(query.keywords, self._schema, snapshot.searcher)
        return Page(()) if words is None else _page(snapshot.searcher, snapshot.rows, words, query)

    def _write(self, changes: Sequence[Change]) -> None:
        # The thread makes the swap: left to the caller, one cancelled at its `await` would leave documents in the
        # engine whose rows no snapshot has.
        with self._writing:
            self._engine = engine = self._engine or _open(self._schema)
            # A writer for each call, so that its merges end before the swap and none of its threads outlives it. Not
            # `with writer`: that commits on the way out of an error too.
            writer = engine.writer(WRITER_HEAP, num_threads=1)
            try:
                written = _written(self._snapshot, changes, writer)
                writer.commit()
            finally:
                writer.wait_merging_threads()
            engine.reload()
            self._snapshot = evolve(written, searcher=engine.searcher())


def _schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_text_field(_ID, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field(_SLOT, fast=True)
    for name in FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _open(schema: Schema) -> tantivy.Index:
    engine = tantivy.Index(schema)
    engine.config_reader("manual")
    return engine


def _written(before: _Snapshot, changes: Sequence[Change], writer: IndexWriter) -> _Snapshot:
    """Write the last change of each entry; return the snapshot that follows `before`, still without a searcher."""
    rows, slots, free = before.rows.copy(), before.slots.copy(), before.free.copy()
    for mcp_id, entry in {change.mcp_id: change.entry for change in changes}.items():
        writer.delete_documents_by_term(_ID, mcp_id)
        if entry is None:
            if mcp_id in slots:
                free.append(slots.pop(mcp_id))
            continue
        row = _Row(entry.name, entry.hit())
        if mcp_id not in slots:
            if not free:
                free.append(len(rows))
                rows.append(row)
            slots[mcp_id] = free.pop()
        rows[slots[mcp_id]] = row
        writer.add_document(_document(entry, mcp_id, slots[mcp_id]))
    return _Snapshot(None, rows, slots, free, before.generation + 1)


def _document(entry: Entry, mcp_id: str, slot: int) -> Document:
    document = Document()
    document.add_text(_ID, mcp_id)
    # Not Document(slot=…): that makes it a signed number, which kills the writer.
    document.add_unsigned(_SLOT, slot)
    for name, content in fields_of(entry):
        document.add_text(name, content)
    return document


def _page(searcher: Searcher, rows: Sequence[_Row], words: tantivy.Query, query: Query) -> Page:
    """Return the hits strictly behind `query.after`, in the order of score downwards, then server name.

    The engine orders equal scores its own way, so that the equals of the last hit it gives may be missing. Those that
    score as the last are therefore left out, and if what is left does not fill the page, more are asked for.
    """
    after = (-query.after.score, query.after.name) if query.after else None
    wanted = query.limit + 1
    while True:
        wanted = min(2 * wanted, searcher.num_docs + 1)
        ranked = _ranked(searcher, rows, words, wanted)
        complete = len(ranked) < wanted
        if not complete:
            worst = ranked[-1][0]
            ranked = [place for place in ranked if place[0] < worst]
        behind = [place for place in ranked if after is None or place[:2] > after]
        if complete or len(behind) > query.limit:
            break
    shown = behind[: query.limit]
    last = Place(-shown[-1][0], shown[-1][1]) if shown and len(behind) > query.limit else None
    return Page(tuple(hit for _, _, hit in shown), last)


def _ranked(
    searcher: Searcher, rows: Sequence[_Row], words: tantivy.Query, wanted: int
) -> list[tuple[float, str, Hit]]:
    """Return the best `wanted` as (score, negated; server name; hit), in that order."""
    found = searcher.search(words, wanted, count=False).hits
    slots = cast("list[int]", searcher.fast_field_values(_SLOT, [address for _, address in found]))
    shown = ((-score, rows[slot]) for (score, _), slot in zip(found, slots, strict=True))
    return sorted(((score, row.name, row.hit) for score, row in shown), key=itemgetter(0, 1))
