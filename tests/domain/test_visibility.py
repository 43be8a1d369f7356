from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.versions import Record
from directory_server.domain.visibility import Flags, Visibility, resolve, transition


def record(
    id: int, *, source: str = "a", version: str = "1.0.0", deleted: bool = False, content: bytes = b"x"
) -> Record:
    return Record(id, source, version, False, deleted, None, content)


NO_FLAGS = Flags()
ONE = record(1)
VISIBLE = resolve(NO_FLAGS, [ONE], ())


def test_a_name_without_records_has_no_visible_entry() -> None:
    assert resolve(NO_FLAGS, [], ()) == Visibility()


def test_the_preferred_record_is_visible() -> None:
    assert Visibility(1, b"x", 1, b"x", False, False) == VISIBLE
    other = record(2, source="mirror", content=b"y")
    assert resolve(NO_FLAGS, [ONE, other], ["mirror"]).visible_id == 2


@pytest.mark.parametrize(
    ("flags", "records"),
    [(NO_FLAGS, [record(1, deleted=True)]), (Flags(hidden=True), [ONE])],
    ids=["deleted", "hidden"],
)
def test_a_deleted_or_hidden_name_has_a_preferred_record_only(flags: Flags, records: list[Record]) -> None:
    assert resolve(flags, records, ()) == Visibility(preferred_id=1, preferred_fingerprint=b"x")


@pytest.mark.parametrize(
    ("flags", "source", "curated"),
    [
        (NO_FLAGS, "a", False),
        (Flags(hidden=True), "a", False),
        (Flags(pinned=True), "a", True),
        (Flags(allowed=True), "a", True),
        (NO_FLAGS, "local", True),
    ],
)
def test_pinned_allowed_and_local_names_are_curated(flags: Flags, source: str, curated: bool) -> None:
    assert resolve(flags, [record(1, source=source)], ()).curated is curated


def test_a_first_record_adds_an_entry() -> None:
    result = transition(Visibility(), NO_FLAGS, [ONE], ())
    assert (result.kind, result.is_update, result.after) == ("added", True, VISIBLE)


def test_a_record_that_is_first_seen_deleted_changes_no_visible_entry() -> None:
    result = transition(Visibility(), NO_FLAGS, [record(1, deleted=True)], ())
    assert (result.kind, result.is_update) == (None, True)


def test_hiding_removes_an_entry_and_showing_adds_it_again() -> None:
    hidden = transition(VISIBLE, Flags(hidden=True), [ONE], ())
    assert hidden.kind == "removed"
    assert transition(hidden.after, NO_FLAGS, [ONE], ()).kind == "added"


def test_other_content_changes_an_entry() -> None:
    result = transition(VISIBLE, NO_FLAGS, [ONE, record(2, version="2.0.0", content=b"y")], ())
    assert (result.kind, result.is_update, result.is_moved) == ("changed", True, True)


def test_another_record_with_the_same_content_only_moves_the_name() -> None:
    result = transition(VISIBLE, NO_FLAGS, [ONE, record(2, version="2.0.0")], ())
    assert (result.kind, result.is_update, result.is_moved) == (None, False, True)
    assert result.after.visible_id == 2


def test_pinning_changes_a_visible_entry() -> None:
    result = transition(VISIBLE, Flags(pinned=True), [ONE], ())
    assert (result.kind, result.is_moved) == ("changed", False)


def test_allowing_updates_the_listing_only() -> None:
    result = transition(VISIBLE, Flags(allowed=True), [ONE], ())
    assert (result.kind, result.is_update) == (None, True)
    assert result.after == evolve(VISIBLE, curated=True)


def test_pinning_a_hidden_name_changes_no_visible_entry() -> None:
    hidden = resolve(Flags(hidden=True), [ONE], ())
    assert transition(hidden, Flags(hidden=True, pinned=True), [ONE], ()).kind is None


def test_nothing_changes_without_a_change() -> None:
    result = transition(VISIBLE, NO_FLAGS, [ONE], ())
    assert (result.after, result.kind, result.is_update, result.is_moved) == (VISIBLE, None, False, False)
