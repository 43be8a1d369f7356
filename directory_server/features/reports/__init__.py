"""Reports of readers about entries: a form on the pages, a list for operators, and a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import ReportsConfig

if TYPE_CHECKING:
    import click

    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _command() -> click.Command:
    from .command import report

    return report


FEATURE = Feature("reports", _web, _command, ReportsConfig)
