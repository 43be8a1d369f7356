"""Webhooks: signed messages about changes of entries, sent to URLs that operators name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import WebhooksConfig

if TYPE_CHECKING:
    import click

    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _command() -> click.Command:
    from .command import webhook

    return webhook


def _run(host: Host) -> Running:
    from .service import running

    return running(host)


FEATURE = Feature("webhooks", web=_web, command=_command, settings=WebhooksConfig, run=_run)
