"""The report of `bench.growth`, and its keys."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench.reports.growth_report import Axis, exponent, table
from bench.servers.data_directory import create_many_keys, open_store, publish
from directory_server import sqlite, tables
from directory_server.domain.entries import Entry
from directory_server.run_sync import run_sync

ENTRIES = Axis(
    "entries",
    {
        1_000: {"request": 50.0, "search": 100.0, "rss": 100.0},
        10_000: {"request": 50.0, "search": 1_000.0, "rss": 200.0, "change": 4.5},
        100_000: {"request": 50.0, "search": 10_000.0, "rss": 400.0, "change": -0.1},
    },
)


def test_exponent_of_a_power() -> None:
    for power in (-0.5, 0.0, 1.0, 2.0):
        assert exponent([(x, 3 * x**power) for x in (1.0, 10.0, 70.0)]) == pytest.approx(power)


def test_exponent_is_the_least_squares_fit() -> None:
    # Logarithms to base 10: (0, 0), (1, 2), (2, 1). The slope is 1 / 2.
    assert exponent([(1, 1), (10, 100), (100, 10)]) == pytest.approx(0.5)


def test_exponent_needs_two_sizes_with_positive_costs() -> None:
    assert exponent([]) is exponent([(10, 5)]) is exponent([(10, 5), (10, 6)]) is None
    assert exponent([(10, 5), (100, 0), (1_000, -1)]) is None
    assert exponent([(10, 5), (100, 0), (1_000, 5)]) == pytest.approx(0)


def test_table_has_a_row_per_figure_and_its_exponent() -> None:
    assert list(table(ENTRIES)) == [
        "entries                          1,000      10,000     100,000    exponent",
        "cached search, CPU µs               50          50          50       +0.00",
        "distinct search, CPU µs            100       1,000      10,000       +1.00",
        "change, CPU ms                       -         4.5        -0.1           -",
        "RSS, MB                            100         200         400       +0.30",
    ]


def test_many_keys_authenticate(tmp_path: Path) -> None:
    secrets = create_many_keys(tmp_path, 5, 100)
    assert len(set(secrets)) == 5
    data = sqlite.DataDirectory(tmp_path)
    ring = tables.StoredKeyRing(sqlite.SqliteTables(data.directory), time.time)
    found = [run_sync(ring.find(secret)) for secret in secrets]
    data.close()
    assert len({key.id for key in found if key is not None}) == 5
    assert {key.limit for key in found if key is not None} == {100}


def test_entries_are_published_in_batches(tmp_path: Path) -> None:
    entries = (Entry({"name": f"a/{number}", "version": "1", "description": "x"}) for number in range(1_200))
    publish(tmp_path, entries)
    with open_store(tmp_path) as store:
        assert run_sync(store.count()) == 1_200
