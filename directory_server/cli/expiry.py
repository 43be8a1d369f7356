"""Options that are durations and dates."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

import click

from ..config.units import parse_duration

_DURATION = re.compile(r"[0-9]{1,6}[dhms]")

expires_option = click.option(
    "--expires", default="never", help="A duration (30d, 12h), a date (2027-01-31) or 'never'."
)
"""The option of a new key or token; `expiry` reads its value."""


def expiry(text: str) -> float | None:
    """Return the value of an option --expires in seconds since the epoch, None for never. Raises BadParameter."""
    if text == "never":
        return None
    if _DURATION.fullmatch(text):
        return time.time() + duration(text, "--expires")
    try:
        moment = datetime.fromisoformat(text)
        return (moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise click.BadParameter(
            "must be a duration such as 30d, a date such as 2027-01-31 (UTC), or 'never'", param_hint="--expires"
        ) from None


def duration(text: str, option: str) -> float:
    """Return the value of an `option` that is a duration, in seconds. Raises BadParameter."""
    if text != "0" and not _DURATION.fullmatch(text):
        raise click.BadParameter("must be a duration such as 30d, 12h, 15m or 30s, or 0", param_hint=option)
    return parse_duration(text)
