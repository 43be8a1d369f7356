"""`directory-server report`: reports of readers about entries."""

from __future__ import annotations

from collections.abc import Sequence

import click
from attrs import asdict

from ...cli.context import CommandContext, in_context, wait_for
from ...cli.output import Group, Record, echo, listing
from ...sanitize import clean_line
from .tables import Reports

_SHOWN = 80
"""Characters of a text in the table. JSON has the whole text."""


@click.group(cls=Group)
def report() -> None:
    """List and close reports of readers about entries."""


@report.command("list")
@click.option("--closed", is_flag=True, help="List the closed reports instead of the open ones.")
@listing(
    {
        **{"ID": "id", "REPORTED": "reported_at", "ENTRY": "server_name", "REASON": "reason"},
        "TEXT": lambda record: clean_line(record["text"], _SHOWN),
    }
)
@in_context
def list_(context: CommandContext, closed: bool) -> Sequence[Record]:
    """List open reports, the last one first. The table shortens texts."""
    found = wait_for(Reports(context.storage.tables).list(closed=closed))
    return [{"id": report.id, **asdict(report)} for report in found]


@report.command()
@click.argument("report_ids", metavar="ID...", nargs=-1, required=True)
@in_context
def close(context: CommandContext, report_ids: Sequence[str]) -> None:
    """Close reports. The last 1,000 closed ones stay in the list of closed reports."""
    reports = Reports(context.storage.tables)
    for report_id in report_ids:
        wait_for(reports.close(report_id, context.now()))
        echo(f"Report {report_id} is closed.", err=True)
