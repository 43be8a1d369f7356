"""Settings of statistics."""

from __future__ import annotations

from attrs import frozen

from ...config import AtLeast, Days, setting
from .rules import LEAST


@frozen
class StatisticsConfig:
    """Numbers of requests and searches, for the operator pages."""

    days: Days = setting(90, "Days for which numbers of requests and searches are stored; 0: none.", AtLeast(0))
    queries: Days = setting(
        0,
        "Days for which frequent texts of searches are stored; 0: none.",
        AtLeast(0),
        step="admin.step_queries",
    )
    query_clients: int = setting(
        LEAST,
        "Clients, at most 1,000, that must search for a text on one day before it is stored.",
        AtLeast(2),
    )
