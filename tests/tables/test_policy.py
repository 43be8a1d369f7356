"""Rules of the policy in the tables of both databases: what they hide, where an entry changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from attrs import frozen

from directory_server.domain.changes import Change
from directory_server.domain.entries import mcp_id_of
from directory_server.domain.notes import LOOKALIKE, Note
from directory_server.domain.ports.storage import Store
from directory_server.domain.versions import LOCAL, REMOVED
from directory_server.domain.visibility import Mark
from directory_server.runtime.run_sync import run_sync
from directory_server.tables import StoredCuration, Tables, apply_policy, names_hidden_by, put_notes

from ..contract.store import NAME, entry, kinds
from .conftest import OpenTables, open_store

OTHER = "x/b"

DRY, FLAGGED = "hide dry", "hide flagged"


@frozen
class DryPolicy:
    """Hides entries that are dry, and those with a flag."""

    analysis: str = "1"

    def __call__(self, change: Change) -> str:
        assert change.body is not None
        return DRY if b"dry" in change.body else FLAGGED if change.flags else ""


@pytest.fixture
def ruled(open_tables: OpenTables) -> Tables:
    """Return the tables of a process with a policy."""
    tables: Any = open_tables()
    tables.database.policy = DryPolicy()
    return tables  # type: ignore[no-any-return]


def visible(store: Store) -> Sequence[str]:
    """Return the names in a list of the registry API, as other readers see them, too."""
    names = [version.name for version in run_sync(store.listing(("", ""), 9, include_deleted=True))]
    assert [run_sync(store.entry(mcp_id_of(name))) is not None for name in names] == [True] * len(names)
    assert run_sync(store.count()) == len(names)
    return names


def log(store: Store) -> Sequence[str]:
    return kinds(run_sync(store.changes(0, 99)))


def flag(tables: Tables, *flags: Note) -> None:
    run_sync(tables.write(lambda rows: put_notes(rows, [LOOKALIKE], {mcp_id_of(NAME): flags})))


LIKE = Note(LOOKALIKE, "same_name", 1.0, OTHER)


def test_an_entry_that_a_rule_hides_is_in_no_list_and_never_was(ruled: Tables) -> None:
    store = open_store(ruled)
    run_sync(store.publish("a", [entry(brief="It is dry."), entry(OTHER)]))
    assert (visible(store), log(store)) == ([OTHER], ["added"])
    assert run_sync(store.version(NAME, "latest")) is None
    assert run_sync(StoredCuration(ruled).find(NAME)).rule == DRY
    assert [each.name for each in run_sync(StoredCuration(ruled).curated())] == []


def test_an_entry_that_becomes_deprecated_is_logged_so(ruled: Tables) -> None:
    store = open_store(ruled)
    for status in ("active", "deprecated", "deprecated"):
        run_sync(store.publish("a", [entry(brief=f"It rains, {run_sync(store.head())}.", status=status)]))
    assert [change.cause for change in run_sync(store.changes(0, 9))] == ["", "status", "document"]


def test_a_change_of_the_record_hides_and_shows(ruled: Tables) -> None:
    store = open_store(ruled)
    for brief in ("It rains.", "It is dry.", "It is dry again.", "It snows."):
        run_sync(store.publish("a", [entry(brief=brief)]))
    assert (visible(store), log(store)) == ([NAME], ["added", "removed", "added"])
    assert run_sync(store.entry(mcp_id_of(NAME))) == entry(brief="It snows.")


def test_a_flag_hides_and_shows(ruled: Tables) -> None:
    store = open_store(ruled)
    run_sync(store.publish("a", [entry()]))
    flag(ruled, LIKE)
    assert visible(store) == []
    flag(ruled)
    assert (visible(store), log(store)) == ([NAME], ["added", "removed", "added"])


def test_who_derives_facts_reads_what_rules_hide(ruled: Tables) -> None:
    store = open_store(ruled)
    run_sync(store.publish("a", [entry(brief="It is dry."), entry(OTHER)]))
    flag(ruled, LIKE)
    assert len(run_sync(store.current("", 9))) == 1
    assert {each.mcp_id for each in run_sync(store.current("", 9, ruled=True))} == {mcp_id_of(NAME), mcp_id_of(OTHER)}
    run_sync(store.publish("a", [entry()]))
    flag(ruled, LIKE)
    flag(ruled)
    flag(ruled, LIKE)
    *_, plain = run_sync(store.changes(0, 9))
    changes = run_sync(store.changes(0, 9, ruled=True))
    assert kinds(changes) == log(store)
    *_, read = changes
    assert (plain.kind, plain.body, read.kind, read.body is None) == ("removed", None, "removed", False)


def test_what_the_operator_decided_stays(ruled: Tables) -> None:
    store, curation = open_store(ruled), StoredCuration(ruled)
    run_sync(store.publish("a", [entry(brief="It is dry.")]))
    marks: Sequence[Mark] = ("allowed", "pinned")
    for mark in marks:
        run_sync(curation.mark(NAME, mark, True))
        assert visible(store) == [NAME]
        run_sync(curation.mark(NAME, mark, False))
        assert visible(store) == []
    assert run_sync(curation.mark(NAME, "hidden", True))
    found = run_sync(curation.find(NAME))
    assert (found.hidden, found.rule) == (True, "")
    run_sync(store.publish("a", [entry()]))
    assert visible(store) == []
    assert run_sync(curation.mark(NAME, "hidden", False))
    assert visible(store) == [NAME]


def test_own_removed_and_deleted_entries_are_not_hidden(ruled: Tables) -> None:
    store, curation = open_store(ruled), StoredCuration(ruled)
    for source in (LOCAL, REMOVED):
        run_sync(store.publish(source, [entry(brief="It is dry.")]))
        assert visible(store) == [NAME]
        run_sync(curation.disown(NAME, source))
        assert visible(store) == []
    run_sync(store.publish("a", [entry(brief="It is dry.")]))
    run_sync(store.publish("a", [entry(brief="It is dry.", status="deleted")]))
    deleted = run_sync(store.listing(("", ""), 9, include_deleted=True))
    assert [version.deleted for version in deleted] == [True]
    assert run_sync(store.current("", 9, ruled=True)) == []


def test_new_rules_apply_to_stored_entries_and_old_ones_end(open_tables: OpenTables, ruled: Tables) -> None:
    plain = open_tables()
    store = open_store(plain, ["b", "a"])
    run_sync(store.publish("a", [entry(brief="It is dry.")]))
    run_sync(store.publish("b", [entry(), entry(OTHER, brief="It is dry.")]))
    dry_run = run_sync(plain.read(lambda rows: names_hidden_by(rows, DryPolicy(), [NAME, OTHER], ["b", "a"])))
    assert (dry_run, visible(store)) == ({OTHER: DRY}, [NAME, OTHER])
    run_sync(ruled.write(lambda rows: apply_policy(rows, [NAME, OTHER, "x/none"], ["b", "a"])))
    assert visible(store) == [NAME]
    run_sync(plain.write(lambda rows: apply_policy(rows, [NAME, OTHER], ["b", "a"])))
    assert (visible(store), log(store)) == ([NAME, OTHER], ["added", "changed", "added", "removed", "added"])


def test_a_process_without_rules_shows_what_it_writes(open_tables: OpenTables, ruled: Tables) -> None:
    run_sync(open_store(ruled).publish("a", [entry(brief="It is dry.")]))
    store = open_store(open_tables())
    run_sync(store.publish("a", [entry(brief="It is dry, too.")]))
    assert visible(store) == [NAME]
