"""Removals: entries with malicious packages, as OSV records name them, are shown without what installs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import RemovalsConfig

if TYPE_CHECKING:
    import click

    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _command() -> click.Command:
    from .command import removals

    return removals


def _run(host: Host) -> Running:
    from .service import running

    return running(host)


FEATURE = Feature("removals", web=_web, command=_command, settings=RemovalsConfig, run=_run)
