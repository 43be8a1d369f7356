"""Curation: operator pages for entries, and the bar on the page of an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature

if TYPE_CHECKING:
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


FEATURE = Feature("curation", _web)
