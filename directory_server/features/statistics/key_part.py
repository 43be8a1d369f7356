"""Requests of API keys by day, on the pages that show a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...domain.errors import Unavailable
from ...web.pages import KeyPart
from .charts import chart
from .rules import day_of
from .tables import Statistics

DAYS = 30
"""Days of the chart."""


async def _read(storage: Any, now: float, key_ids: Sequence[str]) -> Mapping[str, object]:
    """Return the charts of the keys that were used. The page of the keys works without them."""
    today = day_of(now)
    first = today + 1 - DAYS
    try:
        counts = await Statistics(storage.statistics_tables).of_names("keys", key_ids, first, today)
    except Unavailable:
        return {}
    used = dict.fromkeys(count.name for count in counts)
    return {key_id: chart([count for count in counts if count.name == key_id], first, today) for key_id in used}


KEY_PART = KeyPart("statistics/key.html", _read)
