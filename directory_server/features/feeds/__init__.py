"""Feeds and files by which feed readers, browsers and search engines find entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature

if TYPE_CHECKING:
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


FEATURE = Feature("feeds", _web)
