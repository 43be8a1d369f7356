"""Operator pages: the overview of the server, accounts, keys and upstreams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature

if TYPE_CHECKING:
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


FEATURE = Feature("operators", _web)
