"""Options that are durations."""

from __future__ import annotations

import click

from ..config.units import parse_duration
from ..resource import DURATION


def duration(text: str, option: str) -> float:
    """Return the value of an `option` that is a duration, in seconds. Raises BadParameter."""
    if text != "0" and not DURATION.fullmatch(text):
        raise click.BadParameter("must be a duration such as 30d, 12h, 15m or 30s, or 0", param_hint=option)
    return parse_duration(text)
