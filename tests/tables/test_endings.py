"""Ends of life in pages, on both databases."""

from __future__ import annotations

from functools import partial

from attrs import evolve

from directory_server.domain.endings import Ending
from directory_server.domain.entries import Entry, mcp_id_of
from directory_server.domain.notes import ACCEPTED, FORMER
from directory_server.features.text_marks.tables import AcceptedMarks
from directory_server.runtime.run_sync import run_sync
from directory_server.services.moves import Moves
from directory_server.tables import StoredCuration, StoredEndings, notes_of_kinds

from ..contract import ContractWithClock, awaited
from ..contract.store import entry
from .conftest import TablesTest, open_store

OLD, NEW = "io.example/old", "io.example/new"
DAY = 1_801_353_600.0  # 2027-01-31

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

    def test_states_follow_the_date_and_are_logged_once(self) -> None:
        tables = self.open_tables()
        store, endings = open_store(tables), StoredEndings(tables)
        run_sync(store.publish("local", [entry(OLD), entry(NEW)]))
        run_sync(endings.put(Ending(OLD, "2027-01-31", NEW)))
        head = run_sync(store.head())
        for now, state, changed in (
            (DAY - 11.0, "planned", 0),
            (DAY - 10.0, "soon", 1),
            (DAY + 86_399.0, "soon", 0),
            (DAY + 86_400.0, "past", 1),
        ):
            assert run_sync(endings.advance(now, 10.0)) == changed
            assert run_sync(endings.advance(now, 10.0)) == 0
            assert [ending.state for ending in run_sync(endings.page(9, moved=False))] == [state]
        assert [change.cause for change in run_sync(store.changes(head, 9))] == ["ending", "ending"]

    def test_a_move_and_its_former_name_are_taken_back_together(self) -> None:
        tables = self.open_tables()
        store, endings = open_store(tables), StoredEndings(tables)
        run_sync(store.publish("local", [entry(OLD), entry(NEW), entry("io.exampled/x")]))
        moved = Ending(OLD, "2027-01-31", NEW, state="moved")
        run_sync(endings.put_former(moved))
        run_sync(endings.put_former(moved))
        run_sync(endings.put(moved))
        assert run_sync(endings.page(9, moved=True)) == [moved]
        assert run_sync(endings.advance(DAY * 2, 10.0)) == 0
        (notes,) = run_sync(tables.read(lambda rows: notes_of_kinds(rows, [FORMER]))).values()
        assert [(note.name, note.other) for note in notes] == [(NEW, OLD)]
        assert run_sync(endings.names("io.example", 9)) == [NEW, OLD]
        run_sync(endings.remove(OLD))
        assert run_sync(tables.read(lambda rows: notes_of_kinds(rows, [FORMER]))) == {}
        assert run_sync(endings.page(9, moved=True)) == []

    def test_judgements_hold_for_the_new_name(self) -> None:
        tables = self.open_tables()
        store, endings, curation = open_store(tables), StoredEndings(tables), StoredCuration(tables)
        accepted = AcceptedMarks(tables)
        moves = Moves(endings, store, curation, lambda: DAY, partial(store.publish, "published", new=True))
        for name in (OLD, "io.example/free"):
            run_sync(store.publish("published", [entry(name)]))
        run_sync(store.publish("local", [entry("io.example/target")]))
        run_sync(curation.mark(OLD, "allowed", True))
        run_sync(curation.mark(OLD, "pinned", True))
        run_sync(accepted.accept(OLD, "command-1"))
        run_sync(moves.move({OLD: NEW, "io.example/free": "io.example/target"}, "", "operator"))
        flags = run_sync(curation.find(NEW))
        assert (flags.allowed, flags.pinned, flags.hidden) == (True, True, False)
        flags = run_sync(curation.find("io.example/target"))
        assert (flags.allowed, flags.pinned) == (False, False)
        assert sorted(run_sync(accepted.entries())) == sorted([mcp_id_of(OLD), mcp_id_of(NEW)])
        # What was accepted for the new name before stays.
        run_sync(accepted.accept("io.example/target", "command-2"))
        run_sync(moves.move({NEW: "io.example/target"}, "", "operator"))
        (note,) = run_sync(tables.read(lambda rows: notes_of_kinds(rows, [ACCEPTED])))[mcp_id_of("io.example/target")]
        assert note.reason == "command-2"
