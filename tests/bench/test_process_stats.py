"""CPU time and memory of processes."""

from __future__ import annotations

import os
import time
from itertools import count
from threading import Thread

import pytest

from bench.measurement import process_stats
from bench.measurement.process_stats import CpuMeter, memory, peak_memory, proportional_memory

TOLERANCE = 0.04
"""Seconds: four clock ticks."""


def burn(seconds: float) -> None:
    """Use CPU time."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1_000))


def test_cpu_meter_measures_the_process() -> None:
    meter, began = CpuMeter([os.getpid()]), time.process_time()
    burn(0.1)
    assert meter.seconds() == pytest.approx(time.process_time() - began, abs=TOLERANCE)


def test_cpu_meter_counts_ended_threads() -> None:
    meter, began = CpuMeter([os.getpid()]), time.process_time()
    thread = Thread(target=burn, args=(0.2,))
    thread.start()
    thread.join()
    assert meter.seconds() == pytest.approx(time.process_time() - began, abs=TOLERANCE)


def test_memory_is_at_most_its_peak() -> None:
    assert 0 < proportional_memory(os.getpid()) <= memory(os.getpid()) * 1.1
    assert memory(os.getpid()) <= peak_memory(os.getpid())


def test_a_process_is_idle_once_it_uses_no_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    used = iter([1.0, 1.4, 1.4, 1.46, 1.46, 1.48])
    monkeypatch.setattr(process_stats, "cpu_seconds", lambda _: next(used))
    monkeypatch.setattr(process_stats, "WINDOW", 0.5)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    process_stats.wait_until_idle([1])
    assert list(used) == []


def test_a_process_that_is_never_idle_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count()
    monkeypatch.setattr(process_stats, "cpu_seconds", lambda _: next(numbers))
    monkeypatch.setattr(process_stats, "BUSY", -1.0)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with pytest.raises(SystemExit, match="without requests"):
        process_stats.wait_until_idle([1])
