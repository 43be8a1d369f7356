"""Precedence of records of one name."""

from __future__ import annotations

from itertools import permutations

import pytest
from attrs import evolve

from directory_server.domain.publishing import MAX_VERSIONS, excess_records
from directory_server.domain.versions import PUBLISHED, Record, age, epoch, preferred, semantic


def record(
    id: int,
    version: str = "1.0.0",
    source: str = "a",
    *,
    latest: bool = False,
    deleted: bool = False,
    published_at: float | None = None,
) -> Record:
    return Record(id, source, version, latest, deleted, published_at, b"")


def test_local_is_first_even_if_listed_as_a_source() -> None:
    local, mirror = record(1, source="local"), record(2, source="mirror")
    assert preferred([local, mirror], ["mirror", "local"]) == local


PRECEDENCE = [
    "0.9.9",
    "1.0.0-0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "v1.2.0",
    "1.10.0-rc1+build.5",
    "1.10.0+build",
    "2026.6.9",
]


def test_orders_semantic_versions_by_the_specification() -> None:
    keys = [semantic(version) for version in PRECEDENCE]
    assert None not in keys
    assert keys == sorted(keys, key=lambda key: key or ())
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    "version",
    ["", "1", "1.0", "1.0.0.0", "1.0.0-", "1.0.0+", "1.0.0-a_b", "V1.0.0", "latest", "1.0.0 ", "1.0.0\n", "١.0.0"],
)
def test_other_versions_are_not_semantic(version: str) -> None:
    assert semantic(version) is None


def test_numbers_of_any_length_are_numbers() -> None:
    versions = [
        "1.2.3",
        "01.02.0010",
        "9.0.0",
        f"{'0' * 99}10.0.0",
        f"{'9' * 1_000_000}.0.0",
        f"1{'0' * 1_000_000}.0.0",
    ]
    keys = [semantic(version) for version in versions]
    assert keys == sorted(keys, key=lambda key: key or ())
    assert semantic("01.2.3-01") == semantic("1.2.3-1")


def test_precedence_is_independent_of_order() -> None:
    records = [record(number, version) for number, version in enumerate(("1.0.0", "1.0.0-rc.1", "0.10.0", "0.9.0"))]
    assert {preferred(order, []) for order in permutations(records)} == {records[0]}


MIXED = [
    ("nightly", 400.0),
    ("2026-05-24", None),
    ("2026-05-24.9", 300.0),
    ("2026-05-24.10", 300.0),
    ("alpha", 300.0),
    ("1.0", 250.0),
    ("1.0.0-rc.1", 900.0),
    ("1.0.0", None),
    ("1.0.0+a", 100.0),
    ("v1.0.0", 100.0),
    ("2026.05.24", 90.0),
    ("2026.5.3", 800.0),
]
"""Versions, and their dates."""


def test_the_order_is_total_for_all_permutations() -> None:
    records = [record(number, version, published_at=date) for number, (version, date) in enumerate(MIXED)]
    order = sorted(records, key=age)
    assert [each.version for each in order] == [
        "2026-05-24",
        "1.0",
        "2026-05-24.9",
        "2026-05-24.10",
        "alpha",
        "nightly",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.0+a",
        "v1.0.0",
        "2026.5.3",
        "2026.05.24",
    ]
    for triple in permutations(order, 3):
        latest = max(triple, key=order.index)
        # The numbers are those of writing, which a change of a status changes.
        renumbered = [evolve(each, id=number) for number, each in enumerate(triple)]
        chosen = preferred(renumbered, [])
        assert chosen is not None
        assert chosen.version == latest.version


def official_order(one: tuple[str, float], other: tuple[str, float]) -> int:
    """Compare as the official registry: semantic versions by version, others by date, semantic ones after others.

    Its form of semantic versions is simpler: none has build metadata, and a prerelease is compared as one text.
    """

    def semantic_parts(version: str) -> tuple[list[int], bool, str] | None:
        core, dash, prerelease = version.partition("-")
        numbers = core.split(".")
        is_semantic = len(numbers) == 3 and all(map(str.isdecimal, numbers)) and bool(prerelease) is bool(dash)
        return ([*map(int, numbers)], not dash, prerelease) if is_semantic else None

    ours, theirs = semantic_parts(one[0]), semantic_parts(other[0])
    if ours is not None and theirs is not None:
        return (ours > theirs) - (ours < theirs)
    if ours is None and theirs is None:
        return (one[1] > other[1]) - (one[1] < other[1])
    return 1 if ours is not None else -1


def test_the_order_is_that_of_the_official_registry() -> None:
    given = [(version, date or 1.0) for version, date in MIXED if "+" not in version and not version.startswith("v")]
    compared = 0
    for one, other in permutations(given, 2):
        keys = [age(record(0, version, published_at=date)) for version, date in (one, other)]
        # It leaves versions of the same date, and equal ones, in any order.
        if official := official_order(one, other):
            assert (keys[0] > keys[1]) - (keys[0] < keys[1]) == official, (one, other)
            compared += 1
    assert compared > 60


def test_a_status_moves_the_latest_version_only_if_that_is_deleted() -> None:
    versions = [("2.0.0", 100.0), ("nightly", 300.0), ("1.0.0", 300.0), ("beta", 300.0)]
    records = {
        version: record(number, version, PUBLISHED, published_at=date)
        for number, (version, date) in enumerate(versions)
    }
    for number, version in enumerate([*records] * 2, 10):
        # Any change of a status writes the record again.
        records[version] = evolve(records[version], id=number)
        assert preferred([*records.values()], []) == records["2.0.0"]
    records["2.0.0"] = evolve(records["2.0.0"], deleted=True)
    assert preferred([*records.values()], []) == records["1.0.0"]


def test_the_last_versions_are_kept_in_any_order() -> None:
    records = [record(number, f"0.{number}.0") for number in range(MAX_VERSIONS - 1)]
    mixed = [record(900, "nightly", published_at=9e9), record(901, "0.0.1", published_at=1.0)]
    assert [{each.version for each in excess_records([*records, *order])} for order in permutations(mixed)] == [
        {"nightly"}
    ] * 2


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1.0),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01T00:00:01.123456789Z", 1.123456),
        ("1970-01-01T01:00:01+01:00", 1.0),
        ("1970-01-01T00:00:01", 1.0),
        ("0001-01-01T00:00:00+23:59", -62135683140.0),
        ("1970-01-01t00:00:01z", 1.0),
        ("1970-01-01t01:00:01.5+01:00", 1.5),
        ("2016-12-31T23:59:60Z", 1_483_228_800.0),
        ("2016-12-31t23:59:60.5z", 1_483_228_800.5),
        ("2017-01-01T05:29:60+05:30", 1_483_228_800.0),
        ("1990-12-31 15:59:60-08:00", 662_688_000.0),
        ("2016-12-31T22:59:60Z", None),
        ("2016-12-31T23:59:61Z", None),
        ("2016-12-31T23:60:00Z", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (5, None),
    ],
)
def test_parses_dates(date: object, seconds: float | None) -> None:
    assert epoch(date) == seconds
