"""Audit: an append-only, hash-chained log of what operators, members, publishers and commands do.

`web.routing` wraps the handlers of rows that write, and of reads that the operator names; off, it wraps none. So the
forms of all features are recorded without code of their own. An action is stored before it is done (`audit_begun`),
else it is rejected with 503; an action whose process died gets the outcome `unknown`. Writers hold the lock of the
table, so the chain of all processes is linear. A checkpoint signed with `audit.key_file` contradicts deleted last
records and a chain that was computed again; only a deletion by age signs a base, from which the chain goes on.
"""

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
