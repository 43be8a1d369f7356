"""Vectors of entries in both databases."""

from __future__ import annotations

from directory_server.features.embeddings.tables import Embedding, Embeddings, Progress

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
    async def test_every_process_reads_what_the_holder_writes_in_order(self) -> None:
        writer, reader = self.embeddings(), self.embeddings()
        assert await writer.hold(MODEL, "one", seconds=60)
        assert await writer.put(MODEL, "one", [embedding("b"), embedding("a", vector=bytes(range(256)))], [])
        assert await writer.put(MODEL, "one", [embedding("c", "other")], [])
        rows = [(1, "b", b"\x01\xff\x7f"), (2, "a", bytes(range(256))), (3, "c", b"\x01\xff\x7f")]
        assert list(await reader.read(MODEL, 0, 10)) == rows
        assert list(await reader.read(MODEL, 1, 1)) == rows[1:2]
        assert await reader.digests(MODEL, ["a", "c", "x"]) == {"a": b"text", "c": b"other"}
        assert (await reader.progress(MODEL)).revision == 3

    @awaited
    async def test_a_new_vector_of_an_entry_replaces_the_old_one(self) -> None:
        store = self.embeddings()
        await store.hold(MODEL, "one", seconds=60)
        await store.put(MODEL, "one", [embedding("a"), embedding("b")], [])
        await store.put(MODEL, "one", [embedding("a", "new", b"\x02")], [])
        assert list(await store.read(MODEL, 0, 10)) == [(2, "b", b"\x01\xff\x7f"), (3, "a", b"\x02")]
        assert await store.digests(MODEL, ["a"]) == {"a": b"new"}

    @awaited
    async def test_deletes_removed_entries_and_counts_them(self) -> None:
        store = self.embeddings()
        await store.hold(MODEL, "one", seconds=60)
        await store.put(MODEL, "one", [embedding("a"), embedding("b")], [])
        await store.put(MODEL, "one", [embedding("c")], ["a", "x"])
        assert [name for _, name, _ in await store.read(MODEL, 0, 10)] == ["b", "c"]
        assert await store.progress(MODEL) == Progress("", 0, False, 3, 1)

    @awaited
    async def test_models_are_apart(self) -> None:
        store = self.embeddings()
        for model in (MODEL, OTHER):
            assert await store.hold(model, "one", seconds=60)
        await store.put(MODEL, "one", [embedding("a")], [])
        assert list(await store.read(OTHER, 0, 10)) == []
        assert await store.digests(OTHER, ["a"]) == {}

    @awaited
    async def test_only_one_holds_a_lease_until_it_ends_or_is_released(self) -> None:
        one, other = self.embeddings(), self.embeddings()
        assert await one.hold(MODEL, "one", seconds=60)
        assert not await other.hold(MODEL, "other", seconds=60)
        assert await one.hold(MODEL, "one", seconds=-1)
        assert await other.hold(MODEL, "other", seconds=60)
        await one.release(MODEL, "one")
        assert not await one.hold(MODEL, "one", seconds=60)
        await other.release(MODEL, "other")
        assert await one.hold(MODEL, "one", seconds=60)

    @awaited
    async def test_a_lease_of_a_clock_that_was_ahead_ends(self) -> None:
        store = self.embeddings()
        assert await store.hold(MODEL, "one", seconds=1_000)
        assert await store.hold(MODEL, "other", seconds=60)

    @awaited
    async def test_nothing_is_written_without_the_lease(self) -> None:
        store = self.embeddings()
        assert not await store.put(MODEL, "one", [embedding("a")], [])
        assert not await store.advance(MODEL, "one", "log", 5, is_complete=True)
        await store.hold(MODEL, "one", seconds=-1)
        assert not await store.put(MODEL, "one", [embedding("a")], [])
        assert not await store.advance(MODEL, "one", "log", 5, is_complete=True)
        assert await store.progress(MODEL) == Progress()
        assert list(await store.read(MODEL, 0, 10)) == []

    @awaited
    async def test_keeps_the_progress_and_stays_complete(self) -> None:
        store = self.embeddings()
        await store.hold(MODEL, "one", seconds=60)
        assert await store.advance(MODEL, "one", "log", 5, is_complete=True)
        assert await store.progress(MODEL) == Progress("log", 5, True, 0, 0)
        assert await store.advance(MODEL, "one", "later", 2, is_complete=False)
        assert await self.embeddings().progress(MODEL) == Progress("later", 2, True, 0, 0)

    @awaited
    async def test_forgets_models_that_nobody_uses_in_parts(self) -> None:
        store = self.embeddings()
        await store.hold(OTHER, "one", seconds=60)
        await store.put(OTHER, "one", [embedding(name) for name in "abc"], [])
        await store.hold(MODEL, "one", seconds=60)
        await store.put(MODEL, "one", [embedding("a")], [])
        assert await store.forget_others(MODEL, 2, unused=0) == 0
        await store.release(OTHER, "one")
        assert await store.forget_others(MODEL, 2, unused=100) == 0
        assert [await store.forget_others(MODEL, 2, unused=-1) for _ in range(3)] == [2, 1, 0]
        assert await store.progress(OTHER) == Progress()
        assert len(await store.read(MODEL, 0, 10)) == 1
