"""Vectors of entries in both databases."""

from __future__ import annotations

from directory_server.features.embeddings.vectors import Embedding, Embeddings, Progress

from ...contract import awaited
from ...tables.conftest import TablesTest

MODEL, OTHER = "a model", "another model"


def embedding(name: str, text: str = "text", vector: bytes = b"\x01\xff\x7f") -> Embedding:
    return Embedding(name, text.encode(), vector)


class TestEmbeddings(TablesTest):
    def embeddings(self) -> Embeddings:
        return Embeddings(self.open_tables())

    @awaited
    async def test_is_empty_at_first(self) -> None:
        store = self.embeddings()
        assert await store.progress(MODEL) == Progress()
        assert await store.digests(MODEL, ["a"]) == {}
        assert list(await store.read(MODEL, 0, 10)) == []

    @awaited
    async def test_every_process_reads_what_another_writes_in_order(self) -> None:
        writer, reader = self.embeddings(), self.embeddings()
        await writer.put(MODEL, [embedding("b"), embedding("a", vector=bytes(range(256)))], [])
        await writer.put(MODEL, [embedding("c", "other")], [])
        rows = [(1, "b", b"\x01\xff\x7f"), (2, "a", bytes(range(256))), (3, "c", b"\x01\xff\x7f")]
        assert list(await reader.read(MODEL, 0, 10)) == rows
        assert list(await reader.read(MODEL, 1, 1)) == rows[1:2]
        assert await reader.digests(MODEL, ["a", "c", "x"]) == {"a": b"text", "c": b"other"}
        assert (await reader.progress(MODEL)).revision == 3

    @awaited
    async def test_a_new_vector_of_an_entry_replaces_the_old_one(self) -> None:
        store = self.embeddings()
        await store.put(MODEL, [embedding("a"), embedding("b")], [])
        await store.put(MODEL, [embedding("a", "new", b"\x02")], [])
        assert list(await store.read(MODEL, 0, 10)) == [(2, "b", b"\x01\xff\x7f"), (3, "a", b"\x02")]
        assert await store.digests(MODEL, ["a"]) == {"a": b"new"}

    @awaited
    async def test_deletes_removed_entries_and_counts_them(self) -> None:
        store = self.embeddings()
        await store.put(MODEL, [embedding("a"), embedding("b")], [])
        await store.put(MODEL, [embedding("c")], ["a", "x"])
        assert [name for _, name, _ in await store.read(MODEL, 0, 10)] == ["b", "c"]
        assert await store.progress(MODEL) == Progress(False, 3, 1)

    @awaited
    async def test_models_are_apart(self) -> None:
        store = self.embeddings()
        await store.put(MODEL, [embedding("a")], [])
        assert list(await store.read(OTHER, 0, 10)) == []
        assert await store.digests(OTHER, ["a"]) == {}

    @awaited
    async def test_stays_complete(self) -> None:
        store = self.embeddings()
        await store.complete(MODEL)
        await store.put(MODEL, [embedding("a")], [])
        assert await self.embeddings().progress(MODEL) == Progress(True, 1, 0)

    @awaited
    async def test_forgets_models_that_another_has_replaced_in_parts(self) -> None:
        store = self.embeddings()
        await store.put(OTHER, [embedding(name) for name in "abc"], [])
        await store.complete(OTHER)
        await store.put(MODEL, [embedding("a")], [])
        assert await store.forget_others(MODEL, 2, unused=-1) == 0
        await store.complete(MODEL)
        assert await store.forget_others(MODEL, 2, unused=100) == 0
        assert [await store.forget_others(MODEL, 2, unused=-1) for _ in range(3)] == [2, 1, 0]
        assert await store.progress(OTHER) == Progress()
        assert len(await store.read(MODEL, 0, 10)) == 1
        # A model that is used again is not replaced any more.
        await store.put(OTHER, [embedding("a")], [])
        await store.complete(OTHER)
        await store.complete(MODEL)
        assert await store.forget_others(OTHER, 2, unused=-1) == 0
