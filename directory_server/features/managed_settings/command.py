"""`directory-server managed-settings`: files by which editors allow the curated entries."""

from __future__ import annotations

from collections.abc import Iterable

import click
from attrs import asdict

from ...cli.context import CommandContext, in_context, wait_for
from ...cli.output import Group, Record, echo, listing, print_json
from ...runtime.run_sync import inline
from ...tables import scope_of_list
from ...texts.wording import counted
from .selection import FILES, FileName, Policy, Selection

_KEYWORDS = click.argument("keywords", nargs=-1, metavar="[KEYWORDS]...")
_LIST = click.option("--list", "name", default="", metavar="LIST", help="List whose entries are allowed.")


@click.group("managed-settings", cls=Group)
def managed_settings() -> None:
    """Write files by which editors allow exactly the servers of curated entries, or of a list."""


@managed_settings.command()
@click.argument("file", type=click.Choice(FILES))
@_KEYWORDS
@_LIST
@in_context
def write(context: CommandContext, file: FileName, keywords: tuple[str, ...], name: str) -> None:
    """Print FILE for the curated entries that match KEYWORDS, such as category:databases; of all without KEYWORDS.

    With --list, these are the entries of LIST.

    copilot.json and claude-code.json are the managed-settings.json of GitHub Copilot and of Claude Code,
    managed-mcp.json is a fixed set of servers for Claude Code. Hidden entries are denied.
    """
    policy = _policy(context, keywords, name)
    print_json(policy.document(file))
    if policy.warnings:
        echo(
            f"{counted(len(policy.warnings), 'warning')}, see: directory-server managed-settings warnings "
            f"{f'--list {name} ' if name else ''}{' '.join(keywords)}".rstrip(),
            err=True,
        )


@managed_settings.command()
@_KEYWORDS
@_LIST
@listing({"SERVER": "server", "SOURCE": "source", "MESSAGE": "message"})
@in_context
def warnings(context: CommandContext, keywords: tuple[str, ...], name: str) -> Iterable[Record]:
    """List the packages and remotes of the selected entries that the files do not contain, and the reasons."""
    return map(asdict, _policy(context, keywords, name).warnings)


def _policy(context: CommandContext, keywords: tuple[str, ...], name: str) -> Policy:
    storage = context.storage
    selection = Selection(storage.store, storage.curation, inline, storage.tables)
    if name:
        selection = selection.within(wait_for(scope_of_list(storage.tables, name)), name)
    return wait_for(selection.policy(" ".join(keywords)))
