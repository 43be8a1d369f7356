"""Ends of life in pages, on both databases."""

from __future__ import annotations

from attrs import evolve

from directory_server.domain.endings import Ending
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.tables import StoredEndings

from ..contract import ContractWithClock, awaited
from .conftest import TablesTest, open_store

NAMES = ("a/a", "a/b", "a/c", "a/d")


class TestEndings(TablesTest, ContractWithClock):
    @awaited
    async def test_pages_have_the_earliest_first_and_moves_apart(self) -> None:
        tables = self.open_tables()
        endings = StoredEndings(tables)
        entries = [Entry({"name": name, "version": "1", "description": "x"}, {}) for name in NAMES]
        await open_store(tables).publish("local", entries)
        first, second = Ending("a/b", "2030-01-31"), Ending("a/a", "2031-01-31")
        moved = Ending("a/c", "2029-01-31", "a/d", state="moved")
        for ending in (second, moved, first):
            await endings.put(ending)
        assert await endings.page(1, moved=False) == [first]
        assert await endings.page(1, first.mcp_id, moved=False) == [second]
        assert await endings.page(1, second.mcp_id, moved=False) == []
        assert await endings.page(9, moved=True) == [moved]
        same = evolve(first, name="a/d")
        await endings.put(same)
        both = sorted((first, same), key=lambda ending: ending.mcp_id)
        assert [*await endings.page(1, moved=False), *await endings.page(1, both[0].mcp_id, moved=False)] == both

    @awaited
    async def test_one_is_found_by_name_and_by_id(self) -> None:
        tables = self.open_tables()
        endings, ending = StoredEndings(tables), Ending("a/b", "2030-01-31", message="Bye.")
        await open_store(tables).publish("local", [Entry({"name": "a/b", "version": "1", "description": "x"}, {})])
        await endings.put(ending)
        assert await endings.find("a/b") == await endings.find(mcp_id_of("a/b")) == ending
        assert await endings.find("a/c") is await endings.find("\0") is None
