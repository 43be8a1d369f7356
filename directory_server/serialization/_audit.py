"""Values of audit events as JSON objects."""

from __future__ import annotations

from collections.abc import Mapping

from ..domain.audit import recorded
from ._json import text


def recorded_values(values: Mapping[str, object]) -> str:
    """Return values as a JSON object without secrets and within MAX_VALUES; empty if there are none."""
    kept = recorded(values)
    return text(kept) if kept else ""
