"""Statistics: numbers of requests and searches by day, and frequent texts of searches, for operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import StatisticsConfig

if TYPE_CHECKING:
    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _run(host: Host) -> Running:
    from .recorder import running

    return running(host)


FEATURE = Feature("statistics", web=_web, settings=StatisticsConfig, run=_run)
