"""Notes on entries on both databases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from directory_server.domain.entries import mcp_id_of
from directory_server.domain.notes import DUPLICATE, ENTRY_FLAGS, LOOKALIKE, Note
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import Rows, notes_of_kinds, put_notes

from ..contract.store import entry
from .conftest import TablesTest, open_store

COPY, ORIGINAL = mcp_id_of("io.example/copy"), "io.example/original"

FLAG = Note(LOOKALIKE, "same_package", 10.0, ORIGINAL)
TWIN = Note(DUPLICATE, "duplicate_name", 10.0, ORIGINAL)


@frozen
class Late:
    """The rows of a transaction that waits for the lock of publishers while another one writes."""

    _rows: Rows
    lock: Callable[..., None]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)


class TestFlags(TablesTest):
    def put(self, flags: Mapping[str, Sequence[Note]]) -> int:
        return run_sync(self.open_tables().write(lambda rows: put_notes(rows, ENTRY_FLAGS, flags)))

    def flags(self) -> Mapping[str, Sequence[Note]]:
        return run_sync(self.open_tables().read(lambda rows: notes_of_kinds(rows, ENTRY_FLAGS)))

    def test_the_first_and_the_last_flag_of_an_entry_are_changes(self) -> None:
        store = open_store(self.open_tables())
        run_sync(store.publish("local", [entry("io.example/copy")]))
        head = run_sync(store.head())
        assert self.put({COPY: [FLAG]}) == 1
        (change,) = run_sync(store.changes(head, 10))
        assert (change.kind, change.cause, change.flags) == ("changed", "judgement", (LOOKALIKE,))
        (current,) = run_sync(store.current("", 10))
        assert current.flags == (LOOKALIKE,)
        assert self.put({COPY: []}) == 1
        (change,) = run_sync(store.changes(head + 1, 10))
        assert change.flags == ()
        assert self.flags() == {}

    def test_another_reason_is_a_change(self) -> None:
        store = open_store(self.open_tables())
        run_sync(store.publish("local", [entry("io.example/copy")]))
        self.put({COPY: [FLAG]})
        head = run_sync(store.head())
        other = Note(LOOKALIKE, "same_name", 20.0, "io.example/another")
        assert self.put({COPY: [Note(LOOKALIKE, "same_package", 20.0, ORIGINAL), other]}) == 1
        # The finding that stays keeps its time.
        assert self.flags() == {COPY: [other, FLAG]}
        assert run_sync(store.head()) == head + 1

    def test_each_kind_is_a_change(self) -> None:
        store = open_store(self.open_tables())
        run_sync(store.publish("local", [entry("io.example/copy")]))
        for wanted in ([FLAG], [FLAG, TWIN], [TWIN], []):
            head = run_sync(store.head())
            assert self.put({COPY: wanted}) == 1
            (change,) = run_sync(store.changes(head, 10))
            assert set(change.flags) == {flag.kind for flag in wanted}
            assert sorted(self.flags().get(COPY, ()), key=repr) == sorted(wanted, key=repr)

    def test_the_same_flags_write_nothing(self) -> None:
        self.put({COPY: [FLAG]})
        assert self.put({COPY: [Note(LOOKALIKE, "same_package", 99.0, ORIGINAL)]}) == 0
        assert self.flags() == {COPY: [FLAG]}

    def test_a_note_that_another_process_has_put_meanwhile_is_not_logged_again(self) -> None:
        store = open_store(self.open_tables())
        run_sync(store.publish("local", [entry("io.example/copy")]))

        def put_twice(rows: Rows) -> int:
            def lock(statement: str, /, **values: object) -> None:
                if not done:
                    done.append(put_notes(rows, ENTRY_FLAGS, {COPY: [FLAG]}))

            done: list[int] = []
            return put_notes(Late(rows, lock), ENTRY_FLAGS, {COPY: [FLAG]})

        head = run_sync(store.head())
        assert run_sync(self.open_tables().write(put_twice)) == 0
        assert run_sync(store.head()) == head + 1

    def test_flags_of_unknown_and_hidden_entries_are_stored_and_no_change(self) -> None:
        store = open_store(self.open_tables())
        self.put({COPY: [FLAG]})
        assert run_sync(store.head()) == 0
        run_sync(store.publish("local", [entry("io.example/copy")]))
        (change,) = run_sync(store.changes(0, 10))
        assert change.flags == (LOOKALIKE,)
