"""`directory-server lists`: lists of entries, and the groups that see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click
from attrs import asdict

from ...cli.context import CommandContext, in_context, wait_for
from ...cli.output import Group, Record, echo, listing
from .approvers import Approvers
from .groups import Groups
from .readers import reader_of
from .rules import new_list
from .tables import Lists

_NAME = click.argument("name", metavar="LIST")
_GROUP = click.argument("group", metavar="GROUP")


@click.group(cls=Group)
def lists() -> None:
    """Define lists of entries and groups of readers: with lists.enabled, readers see their lists only."""


@lists.command("list")
@listing(
    {
        "NAME": "name",
        "ENTRIES": lambda record: "all" if record["entries"] is None else record["entries"],
        "RULE": "rule",
        "SEEN BY": lambda record: "everybody" if record["open"] else " ".join(record["groups"]) or "-",
        "APPROVERS": "approvers",
        "READY": lambda record: "yes" if record["ready"] else "no",
    }
)
@in_context
def list_(context: CommandContext) -> Sequence[Record]:
    """Show all lists."""
    storage = context.storage
    stored, approvers = Lists(storage.tables), Approvers(storage.tables, storage)
    return [
        {
            "name": entry_list.name,
            "title": entry_list.title,
            "entries": None if entry_list.is_all else wait_for(stored.count(entry_list.name)),
            "rule": entry_list.rule,
            "open": entry_list.is_open,
            "groups": list(entry_list.groups),
            "approvers": list(wait_for(approvers.texts(entry_list.name))),
            "holds_versions": entry_list.holds_versions,
            "ready": entry_list.is_ready,
        }
        for entry_list in wait_for(stored.all())
    ]


@lists.command()
@_NAME
@click.option("--title", default="", help="Title of the list.")
@click.option("--rule", default="", help="Query with filters as in a search, which entries of the list match.")
@click.option("--all", "is_all", is_flag=True, help="The list has all entries.")
@click.option("--open", "is_open", is_flag=True, help="Everybody sees the list.")
@click.option("--group", "groups", multiple=True, help="Group that sees the list.")
@click.option("--holds-versions", is_flag=True, help="Each new version of an approved entry waits for an approver.")
@in_context
def put(
    context: CommandContext,
    name: str,
    title: str,
    rule: str,
    is_all: bool,
    is_open: bool,
    groups: Sequence[str],
    holds_versions: bool,
) -> None:
    """Create LIST, or replace its definition. Entries that were picked, and approvers, stay."""
    stored = Lists(context.storage.tables)
    wanted = new_list(
        name,
        title,
        is_all=is_all,
        is_open=is_open,
        rule=rule,
        now=context.now(),
        holds_versions=holds_versions,
    )
    wait_for(stored.put(wanted, groups))
    echo(f"List {name} is stored. A running server finds its entries.", err=True)


@lists.command()
@_NAME
@click.argument("approvers", nargs=-1, required=True, metavar="APPROVER...")
@click.option("--remove", "is_removed", is_flag=True, help="They are approvers no longer.")
@in_context
def approver(context: CommandContext, name: str, approvers: Sequence[str], is_removed: bool) -> None:
    """Let APPROVER decide on requests for entries on LIST: e-mail addresses of accounts, and names of groups."""
    storage = context.storage
    stored = Approvers(storage.tables, storage)
    wait_for(Lists(storage.tables).find(name))
    changed = wait_for(stored.read(approvers))
    wait_for(stored.change(name, () if is_removed else changed, changed if is_removed else ()))


@lists.command()
@_NAME
@in_context
def remove(context: CommandContext, name: str) -> None:
    """Remove LIST. Its entries stay in the directory."""
    wait_for(Lists(context.storage.tables).remove(name))
    echo(f"List {name} is removed.", err=True)


@lists.command()
@_NAME
@click.argument("entries", nargs=-1, required=True, metavar="NAME...")
@in_context
def pick(context: CommandContext, name: str, entries: Sequence[str]) -> None:
    """Add the entries NAME to LIST by hand."""
    stored = Lists(context.storage.tables)
    for entry in entries:
        wait_for(stored.pick(name, entry))


@lists.command()
@_NAME
@click.argument("entries", nargs=-1, required=True, metavar="NAME...")
@in_context
def unpick(context: CommandContext, name: str, entries: Sequence[str]) -> None:
    """Undo pick. An entry that the rule matches stays in LIST."""
    stored = Lists(context.storage.tables)
    for entry in entries:
        wait_for(stored.unpick(name, entry))


@lists.command()
@listing(
    {
        "NAME": "name",
        "MEMBERS": lambda record: len(record["members"]),
        "CLAIMS": lambda record: " ".join(value for _, value in record["claims"]) or "-",
    }
)
@in_context
def groups(context: CommandContext) -> Iterable[Record]:
    """Show all groups."""
    return map(asdict, wait_for(Groups(context.storage.tables).all()))


@lists.command()
@_GROUP
@click.argument("members", nargs=-1, metavar="[MEMBER]...")
@click.option("--claim", "claims", multiple=True, help="Group of an issuer whose persons are members.")
@click.option("--issuer", default="", help="URL of the issuer of the claims; by default any issuer.")
@in_context
def join(context: CommandContext, group: str, members: Sequence[str], claims: Sequence[str], issuer: str) -> None:
    """Add MEMBER to GROUP, which is created if there is none.

    MEMBER is the e-mail address of an account, or the id of a token, or of a key without an account.
    """
    stored = Groups(context.storage.tables)
    wait_for(stored.add(group, context.now()))
    for member in members:
        wait_for(stored.add_member(group, wait_for(reader_of(context.storage, member))))
    for claim in claims:
        wait_for(stored.add_claim(group, issuer, claim))


@lists.command()
@_GROUP
@click.argument("members", nargs=-1, metavar="[MEMBER]...")
@click.option("--claim", "claims", multiple=True, help="Group of an issuer whose persons are no longer members.")
@click.option("--issuer", default="", help="URL of the issuer of the claims, as it was given.")
@in_context
def leave(context: CommandContext, group: str, members: Sequence[str], claims: Sequence[str], issuer: str) -> None:
    """Remove MEMBER from GROUP."""
    stored = Groups(context.storage.tables)
    for member in members:
        wait_for(stored.remove_member(group, wait_for(reader_of(context.storage, member))))
    for claim in claims:
        wait_for(stored.remove_claim(group, issuer, claim))


@lists.command("remove-group")
@_GROUP
@in_context
def remove_group(context: CommandContext, group: str) -> None:
    """Remove GROUP. Its members no longer see the lists of it."""
    wait_for(Groups(context.storage.tables).remove(group))
    echo(f"Group {group} is removed.", err=True)
