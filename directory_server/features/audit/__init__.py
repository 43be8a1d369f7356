"""Audit: an append-only, hash-chained log of what operators, members, publishers and commands do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...feature import Feature
from .settings import AuditConfig

if TYPE_CHECKING:
    import click

    from ...config import Config
    from ...domain.ports.audit import AuditTrail
    from ...feature import Host, Running
    from ...web.parts import WebPart


def _web() -> WebPart:
    from .web import PART

    return PART


def _command() -> click.Command:
    from .command import audit

    return audit


def _run(host: Host) -> Running:
    from .service import running

    return running(host)


def _trail(config: Config, storage: Any) -> AuditTrail | None:
    from .service import command_trail

    return command_trail(config, storage)


FEATURE = Feature("audit", web=_web, command=_command, settings=AuditConfig, run=_run, trail=_trail)
