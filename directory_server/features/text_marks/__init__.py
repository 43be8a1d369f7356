"""Marks of texts that command a model: operators accept them, and hide entries that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature

if TYPE_CHECKING:
    import click

    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _command() -> click.Command:
    from .command import marks

    return marks


def _run(host: Host) -> Running:
    from .accepted import running

    return running(host)


FEATURE = Feature("text_marks", web=_web, command=_command, run=_run)
