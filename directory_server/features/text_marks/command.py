"""`directory-server marks`: marks of texts that command a model."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ...cli.context import CommandContext, in_context, wait_for
from ...cli.output import Group, Record, echo, listing
from ...domain.withholding import entry_marks
from ...serialization import restore_entry, restore_indexed
from .tables import AcceptedMarks

PAGE = 2_000
"""Entries that are read at a time."""


@click.group(cls=Group)
def marks() -> None:
    """List marks of texts that command a model, and accept them."""


@marks.command("list")
@click.option("--rule", default="", help="Only marks of this rule or kind.")
@listing({"ENTRY": "name", "RULE": "rule", "PLACE": "place", "ID": "id"})
@in_context
def list_(context: CommandContext, rule: str) -> Iterator[Record]:
    """List the marks of all visible entries that are not accepted. This reads all entries."""
    store, after = context.storage.store, ""
    while changes := wait_for(store.current(after, PAGE)):
        for change in changes:
            after, accepted = change.mcp_id, change.accepted
            if change.body is None:
                continue
            entry = restore_entry(change.body)
            tools = () if change.verified is None else restore_indexed(change.verified).marks
            found = [
                *((mark.rule, mark.kind, mark.place, mark.id) for mark in entry_marks(entry)),
                *((mark.partition(".")[2], kind, f"tool {tool}", mark) for tool, kind, mark in tools),
            ]
            for found_rule, kind, place, mark_id in found:
                if mark_id not in accepted and rule in ("", found_rule, kind):
                    yield {"name": entry.name, "rule": found_rule, "kind": kind, "place": place, "id": mark_id}


@marks.command()
@click.argument("name")
@click.argument("mark_ids", metavar="ID...", nargs=-1, required=True)
@in_context
def accept(context: CommandContext, name: str, mark_ids: tuple[str, ...]) -> None:
    """Accept marks of the entry NAME: they are not shown again until the text changes."""
    accepted = AcceptedMarks(context.storage.tables)
    for mark_id in mark_ids:
        is_new = wait_for(accepted.accept(name, mark_id))
        echo(f"{mark_id}: accepted." if is_new else f"{mark_id}: was accepted before.", err=True)


@marks.command()
@click.argument("name")
@in_context
def withdraw(context: CommandContext, name: str) -> None:
    """Withdraw the accepted marks of the entry NAME."""
    was = wait_for(AcceptedMarks(context.storage.tables).withdraw(name))
    echo(f"{name}: " + ("withdrawn." if was else "has no accepted marks."), err=True)
