"""Rules of publishing: versions that are stored, limits of a source."""

from __future__ import annotations

import pytest
from attrs import evolve

from directory_server.domain.entries import OFFICIAL, Entry
from directory_server.domain.publishing import (
    MAX_VERSIONS,
    SourceLimits,
    Usage,
    excess_records,
    excess_versions,
    has_room,
    is_same,
    record,
)
from directory_server.domain.versions import Record


def stored(number: int, version: str, *, latest: bool = False, deleted: bool = False) -> Record:
    return Record(number, "a", version, latest, deleted, None, b"fingerprint")


def many(count: int) -> list[Record]:
    return [stored(number, f"1.{number}.0") for number in range(count)]


def test_a_record_has_what_the_registry_says_of_the_entry() -> None:
    official = {"isLatest": True, "status": "deleted", "publishedAt": "1970-01-01T00:00:05Z"}
    entry = Entry({"name": "x/a", "version": "1.0.0"}, {OFFICIAL: official})
    assert record(7, "a", entry, b"f") == Record(7, "a", "1.0.0", True, True, 5.0, b"f")
    plain = record(7, "a", Entry({"name": "x/a", "version": "1.0.0"}, {OFFICIAL: {"isLatest": "true"}}), b"f")
    assert (plain.latest, plain.deleted, plain.published_at) == (False, False, None)


def test_a_version_is_the_same_by_fingerprint_and_latest() -> None:
    before = stored(1, "1.0.0")
    assert is_same(before, evolve(before, id=9))
    assert not is_same(before, evolve(before, latest=True))
    assert not is_same(before, evolve(before, fingerprint=b"other"))
    assert not is_same(None, before)


def test_the_last_versions_in_precedence_exceed_the_limit() -> None:
    assert list(excess_records(many(MAX_VERSIONS))) == []
    assert {each.version for each in excess_records(many(MAX_VERSIONS + 2))} == {"1.0.0", "1.1.0"}
    first, second, *others = many(MAX_VERSIONS + 2)
    excess = excess_records([evolve(first, latest=True), second, *others])
    assert {each.version for each in excess} == {"1.1.0", "1.2.0"}


def test_written_versions_are_ranked_with_the_stored_ones() -> None:
    full = many(MAX_VERSIONS)
    assert excess_versions(full, [stored(0, "1.5.0")]) == set()
    assert excess_versions(full, [stored(0, "0.1.0")]) == {"0.1.0"}
    assert excess_versions(full, [stored(0, "2.0.0")]) == {"1.0.0"}
    # A new latest version outdates the stored one.
    latest = [evolve(full[0], latest=True), *full[1:]]
    assert excess_versions(latest, [stored(0, "2.0.0")]) == {"1.1.0"}
    assert excess_versions(latest, [stored(0, "0.1.0", latest=True)]) == {"1.0.0"}


@pytest.mark.parametrize(
    ("size", "replaced", "deleted", "has_name", "fits"),
    [
        (10, None, False, True, True),
        (11, None, False, True, False),
        (10, None, False, False, False),
        (15, 5, False, True, True),
        (16, 5, False, True, False),
        (99, 100, False, True, True),
        (99, 5, True, True, True),
        (99, None, True, True, False),
    ],
)
def test_a_source_stores_within_its_limits(
    size: int, replaced: int | None, deleted: bool, has_name: bool, fits: bool
) -> None:
    limits, usage, written = SourceLimits(3, 100), Usage(3, 90), stored(1, "1.0.0", deleted=deleted)
    assert has_room(limits, usage, written, size, replaced=replaced, has_name=lambda: has_name) is fits
    assert has_room(None, usage, written, size, replaced=replaced, has_name=lambda: has_name)
