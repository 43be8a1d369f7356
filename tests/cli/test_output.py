"""Durations in the output of the commands."""

from __future__ import annotations

import pytest

from directory_server.cli._output import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (60, "1 minute"),
        (90, "1 minute 30 seconds"),
        (3_600, "1 hour"),
        (5_400, "1 hour 30 minutes"),
        (259_200, "3 days"),
        (100_000.4, "1 day 3 hours 46 minutes 40 seconds"),
        (86_400 * 1_000, "1,000 days"),
    ],
)
def test_duration_has_whole_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text
