"""`directory-server removals`: entries with malicious packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import click

from ... import wording
from ...cli.context import CommandContext, command_context, run_in_reactor, wait_for
from ...cli.output import Group, echo, json_option, print_listing
from ...domain.entries import Entry, mcp_id_of
from ...domain.versions import REMOVED
from ...run_sync import inline
from .remover import Remover
from .rules import removal_of
from .sources import SourceFailed

PAGE = 200
"""Entries that are read at a time."""


@click.group(cls=Group)
def removals() -> None:
    """List, check and refresh the removals of entries with malicious packages."""


@removals.command("list")
@json_option
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """List the removed entries."""
    store, records, after = command_context(ctx).storage.store, list[dict[str, Any]](), ""
    while page := wait_for(store.of_source(REMOVED, after)):
        records += [
            {"name": entry.name, "removed": found.at, "ids": found.ids, "reason": found.reason}
            for entry in page
            if (found := removal_of(entry)) is not None
        ]
        after = page[-1].name
    _print(records, "REMOVED", "removed", as_json)


@removals.command()
@click.argument("names", nargs=-1)
@json_option
@click.pass_context
def check(ctx: click.Context, names: Sequence[str], as_json: bool) -> None:
    """Show which of the entries NAMES, or of all, have a malicious package of the stored records. Change nothing.

    The exit code is 1 if any has.
    """
    context = command_context(ctx)
    store, remover, records = context.storage.store, _remover(context, None), list[dict[str, Any]]()

    def compare(entries: Sequence[Entry]) -> None:
        for name, findings in wait_for(remover.findings(entries)).items():
            ids = [number for finding in findings for number in finding.ids]
            reason = "; ".join(finding.text for finding in findings)
            records.append({"name": name, "ids": ids, "reason": reason})

    if names:
        entries = wait_for(store.entries([mcp_id_of(name) for name in names]))
        if unknown := set(names) - {entry.name for entry in entries}:
            raise click.ClickException(f"No visible entry has the name {min(unknown)}.")
        compare(entries)
    else:
        after = ""
        while ids := wait_for(store.ids(after, "~", PAGE)):
            compare(wait_for(store.entries(ids)))
            after = ids[-1]
    _print(records, "IDS", "ids", as_json)
    if records:
        raise SystemExit(1)


@removals.command()
@click.pass_context
def refresh(ctx: click.Context) -> None:
    """Read the sources now, then remove and restore entries. Without sources, all removed entries are restored."""
    context = command_context(ctx)

    async def run(reactor: Any) -> None:
        remover = _remover(context, reactor)
        try:
            report = await remover.read()
        except SourceFailed as error:
            echo(error.message, err=True)
            raise SystemExit(1) from None
        await remover.compare()
        documents = wording.counted(report.documents, "document")
        echo(f"Read {documents}, {report.invalid:,} of them invalid, with {report.advisories:,} malicious packages.")

    run_in_reactor(run, "refresh")


def _remover(context: CommandContext, reactor: Any) -> Remover:
    from .service import remover_of

    return remover_of(context.config, context.storage, reactor, inline, context.now, lambda: None)


def _print(records: Sequence[dict[str, Any]], title: str, field: str, as_json: bool) -> None:
    def shown(record: Mapping[str, Any]) -> str:
        value = record[field]
        return value if isinstance(value, str) else ", ".join(value)

    print_listing(records, {"NAME": itemgetter("name"), title: shown, "REASON": itemgetter("reason")}, as_json)
