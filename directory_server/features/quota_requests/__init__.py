"""Requests of members for a larger limit of their keys, which operators grant or decline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature

if TYPE_CHECKING:
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


FEATURE = Feature("quota_requests", _web)
