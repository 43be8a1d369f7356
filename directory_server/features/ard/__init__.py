"""ARD: a registry of Agentic Resource Discovery, with the manifest and the server cards that lead to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import ArdConfig

if TYPE_CHECKING:
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


FEATURE = Feature("ard", web=_web, settings=ArdConfig)
