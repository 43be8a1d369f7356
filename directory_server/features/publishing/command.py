"""`directory-server publisher log`: the audit log of what publisher tokens published."""

from __future__ import annotations

from collections.abc import Sequence

import click
from attrs import asdict
from attrs.filters import exclude

from ...cli.context import CommandContext, in_context, wait_for
from ...cli.output import Group, Record, listing
from .tables import PublicationLog
from .tokens import LOG_PAGE


@click.group(cls=Group)
def publisher() -> None:
    """Show what publisher tokens published."""


@publisher.command()
@click.option(
    "--limit", type=click.IntRange(1, LOG_PAGE), default=100, show_default=True, help="Largest number of records."
)
@listing(
    {
        **{"AT": "logged_at", "TOKEN": "token_id", "LABEL": "label", "ACTION": "action", "NAME": "name"},
        **{"VERSION": "version", "FROM": "network", "OUTCOME": "outcome"},
    }
)
@in_context
def log(context: CommandContext, limit: int) -> Sequence[Record]:
    """Show the audit log, the newest record first."""
    found = wait_for(PublicationLog(context.storage.tables).newest(limit))
    return [{"logged_at": record.at, **asdict(record, filter=exclude("at"))} for _, record in found]
