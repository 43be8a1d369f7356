"""Publishing: publisher tokens publish entries over the registry API, with an audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...feature import Feature
from .settings import PublishConfig

if TYPE_CHECKING:
    import click

    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _command() -> click.Command:
    from .command import publisher

    return publisher


def _run(host: Host) -> Running:
    from .service import running

    return running(host)


FEATURE = Feature("publish", web=_web, command=_command, settings=PublishConfig, run=_run)
