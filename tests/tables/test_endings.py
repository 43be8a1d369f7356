"""Ends of life and moves on both databases."""

from __future__ import annotations

from directory_server.domain.endings import Ending
from directory_server.domain.notes import FORMER
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredEndings, notes_of_kinds

from ..contract.store import entry
from .conftest import TablesTest, open_store

OLD, NEW = "io.example/old", "io.example/new"
DAY = 1_801_353_600.0  # 2027-01-31


class TestEndings(TablesTest):
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
            assert [ending.state for ending in run_sync(endings.list())] == [state]
        assert [change.cause for change in run_sync(store.changes(head, 9))] == ["ending", "ending"]

    def test_a_move_and_its_former_name_are_taken_back_together(self) -> None:
        tables = self.open_tables()
        store, endings = open_store(tables), StoredEndings(tables)
        run_sync(store.publish("local", [entry(OLD), entry(NEW), entry("io.exampled/x")]))
        moved = Ending(OLD, "2027-01-31", NEW, state="moved")
        run_sync(endings.put_former(moved))
        run_sync(endings.put_former(moved))
        run_sync(endings.put(moved))
        assert run_sync(endings.list()) == [moved]
        assert run_sync(endings.advance(DAY * 2, 10.0)) == 0
        (notes,) = run_sync(tables.read(lambda rows: notes_of_kinds(rows, [FORMER]))).values()
        assert [(note.name, note.other) for note in notes] == [(NEW, OLD)]
        assert run_sync(endings.names("io.example", 9)) == [NEW, OLD]
        run_sync(endings.remove(OLD))
        assert run_sync(tables.read(lambda rows: notes_of_kinds(rows, [FORMER]))) == {}
        assert run_sync(endings.list()) == []
