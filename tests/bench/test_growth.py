"""The report of `bench.growth`, its options, and its keys."""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.growth import SIZES, axes, sizes
from bench.reports.growth_report import Axis, Curve, exponent, svg, table
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
PROCESSES = Axis("processes", {1: {"request": 50.0}, 2: {"request": 60.0}})


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


def test_plot_has_a_panel_per_axis_and_a_line_per_figure() -> None:
    root = ElementTree.fromstring(svg([ENTRIES, PROCESSES]))
    space = {"svg": "http://www.w3.org/2000/svg"}
    first, second = root.findall("svg:g", space)
    # Negative and missing values are not in a plot with logarithmic scales.
    lines = [line.attrib["points"] for line in first.findall("svg:polyline", space)]
    assert sorted(len(line.split()) for line in lines) == [1, 3, 3, 3]
    assert len(second.findall("svg:polyline", space)) == 1
    texts = [text.text for text in first.findall("svg:text", space)]
    assert "distinct search: +1.00" in texts
    assert "100,000" in texts


def test_plot_places_values_on_logarithmic_scales() -> None:
    root = ElementTree.fromstring(svg([Axis("entries", ENTRIES.measured)]))
    lines = {line.attrib["points"] for line in root.iter("{http://www.w3.org/2000/svg}polyline")}
    # The width is 300 and the height 220; distinct searches grow 100-fold over two decades.
    assert "0.0,220.0 150.0,110.0 300.0,0.0" in lines
    assert "0.0,220.0 150.0,220.0 300.0,220.0" in lines


def test_labels_of_the_plot_do_not_overlap() -> None:
    same = Axis("keys", {1: dict.fromkeys(("request", "search", "rss", "pss"), 1.0), 10: {"request": 1.0}})
    root = ElementTree.fromstring(svg([same]))
    heights = sorted(
        float(text.attrib["y"])
        for text in root.iter("{http://www.w3.org/2000/svg}text")
        if text.text is not None and ": " in text.text
    )
    assert len(heights) == 4
    assert all(below - above >= 12.9 for above, below in pairwise(heights))


def test_plot_of_nothing_is_empty() -> None:
    assert ElementTree.fromstring(svg([])).findall("*") == []
    ElementTree.fromstring(svg([Axis("streams")]))
    assert Curve("request", []).exponent is None


def test_options_name_axes_and_sizes() -> None:
    assert sizes("26000,1000,1000") == [1_000, 26_000]
    assert axes("keys,entries") == ["keys", "entries"]
    for text in ("", "0", "1,x", "-5"):
        with pytest.raises(argparse.ArgumentTypeError, match="must be whole numbers"):
            sizes(text)
    with pytest.raises(argparse.ArgumentTypeError, match=f"must be some of {', '.join(SIZES)}, not pages"):
        axes("keys,pages")


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
