"""Dump: a file of all entries in all versions, from which another directory starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import DumpConfig

if TYPE_CHECKING:
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


FEATURE = Feature("dump", web=_web, settings=DumpConfig)
