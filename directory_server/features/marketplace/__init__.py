"""Marketplace: entries as plugins of Claude Code, which `/plugin marketplace add URL` adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature

if TYPE_CHECKING:
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


FEATURE = Feature("marketplace", web=_web)
