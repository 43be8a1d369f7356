"""`directory-server removals`: entries with malicious packages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from ...cli.context import CommandContext, in_context, run_in_reactor, wait_for
from ...cli.output import Group, Record, echo, json_option, listing, print_listing
from ...domain.entries import Entry, mcp_id_of
from ...domain.versions import REMOVED
from ...runtime.run_sync import inline
from ...texts import wording
from .remover import Remover
from .rules import removal_of
from .sources import SourceFailed

PAGE = 200
"""Entries that are read at a time."""


@click.group(cls=Group)
def removals() -> None:
    """List, check and refresh the removals of entries with malicious packages."""


@removals.command("list")
@listing({"NAME": "name", "REMOVED": "removed", "REASON": "reason"})
@in_context
def list_(context: CommandContext) -> Iterator[Record]:
    """List the removed entries."""
    after = ""
    while page := wait_for(context.storage.store.of_source(REMOVED, after)):
        for entry in page:
            if (found := removal_of(entry)) is not None:
                yield {"name": entry.name, "removed": found.at, "ids": found.ids, "reason": found.reason}
        after = page[-1].name


@removals.command()
@click.argument("names", nargs=-1)
@json_option
@in_context
def check(context: CommandContext, names: Sequence[str], as_json: bool) -> None:
    """Show which of the entries NAMES, or of all, have a malicious package of the stored records. Change nothing.

    The exit code is 1 if any has.
    """
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
    print_listing(
        records, {"NAME": "name", "IDS": lambda record: ", ".join(record["ids"]), "REASON": "reason"}, as_json
    )
    if records:
        raise SystemExit(1)


@removals.command()
@in_context
def refresh(context: CommandContext) -> None:
    """Read the sources now, then remove and restore entries. Without sources, all removed entries are restored."""

    async def run(reactor: Any) -> None:
        remover = _remover(context, reactor)
        try:
            report = await remover.refresh()
        except SourceFailed as error:
            echo(error.message, err=True)
            raise SystemExit(1) from None
        documents = wording.counted(report.documents, "document")
        echo(f"Read {documents}, {report.invalid:,} of them invalid, with {report.advisories:,} malicious packages.")

    run_in_reactor(run, "refresh")


def _remover(context: CommandContext, reactor: Any) -> Remover:
    from .remover import remover_of

    return remover_of(context.config, context.storage, reactor, inline, context.now)
