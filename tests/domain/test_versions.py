"""Precedence of records of one name."""

from __future__ import annotations

from itertools import permutations

import pytest

from directory_server.domain.versions import Record, epoch, preferred, semantic


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
    "version", ["", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0-a..b", "latest", "1.0.0 ", "١.0.0"]
)
def test_other_versions_are_not_semantic(version: str) -> None:
    assert semantic(version) is None


def test_a_number_of_a_million_digits_is_cheap() -> None:
    assert semantic("9" * 1_000_000 + ".0.0") is None


def test_precedence_is_independent_of_order() -> None:
    records = [record(number, version) for number, version in enumerate(("1.0.0", "1.0.0-rc.1", "0.10.0", "0.9.0"))]
    assert {preferred(order, []) for order in permutations(records)} == {records[0]}


def test_compares_dates_if_a_version_is_not_semantic() -> None:
    newer = record(1, "2026-05-24", published_at=200.0)
    assert preferred([newer, record(2, "1.0.0", published_at=100.0)], []) == newer


def test_compares_dates_of_equal_versions() -> None:
    newer = record(1, "1.0.0+a", published_at=200.0)
    assert preferred([newer, record(2, "1.0.0+b", published_at=100.0)], []) == newer


@pytest.mark.parametrize("dates", [(None, None), (100.0, None), (None, 100.0), (100.0, 100.0)])
def test_the_last_criterion_is_the_order_of_writing(dates: tuple[float | None, float | None]) -> None:
    one, other = record(1, "mcp", published_at=dates[0]), record(2, "latest", published_at=dates[1])
    assert preferred([other, one], []) == other


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1.0),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01T00:00:01.123456789Z", 1.123456),
        ("1970-01-01T01:00:01+01:00", 1.0),
        ("1970-01-01T00:00:01", 1.0),
        ("0001-01-01T00:00:00+23:59", -62135683140.0),
        ("yesterday", None),
        ("", None),
        (None, None),
        (5, None),
    ],
)
def test_parses_dates(date: object, seconds: float | None) -> None:
    assert epoch(date) == seconds
