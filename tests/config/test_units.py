"""Durations and sizes as texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from directory_server.config.units import format_duration, format_size, parse_duration, parse_size


@given(seconds=st.floats(0, allow_nan=False, allow_infinity=False) | st.integers(0, 10**9).map(float))
def test_a_written_duration_is_read_as_the_same(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


@given(size=st.integers(0, 2**63) | st.integers(0, 10**6).map(lambda number: number * 10**6))
def test_a_written_size_is_read_as_the_same(size: int) -> None:
    assert parse_size(format_size(size)) == size


def test_values_are_written_with_the_unit_that_makes_them_shortest() -> None:
    assert [format_duration(seconds) for seconds in (86_400, 5_400, 15.0, 0.1, 0)] == ["1d", "90m", "15s", "0.1s", "0"]
    assert [format_size(size) for size in (67_108_864, 10**9, 1_000_001, 0)] == ["64MiB", "1GB", "1000001", "0"]
