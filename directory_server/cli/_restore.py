"""`directory-server after-restore`: prepare a restored backup for serving."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from .. import sqlite
from ._context import command_context
from ._output import echo


@click.command("after-restore")
@click.option(
    "--newer",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The directory.db from before the restore, if it is readable.",
)
@click.pass_context
def after_restore(ctx: click.Context, newer: Path | None) -> None:
    """Invalidate outdated sessions, links and keys of a restored backup. Run it before the server starts.

    A backup can contain keys that were revoked later, ended sessions and used links. All sessions and links end, and
    readers of the change feed must start over. With --newer, revocations and disabled accounts, new secrets and new
    passwords are copied from the newer database.
    """
    done = sqlite.after_restore(command_context(ctx).data.directory, newer)
    echo("Readers of the change feed start over: the log has a new id.")
    echo(f"{done.sessions} sessions and {done.links} links ended.")
    if newer is None:
        _list("Valid keys. Revoke those that were revoked after the backup, with 'key revoke ID':", done.valid_keys)
        return
    echo(f"{done.retired_secrets} secrets and {done.passwords} passwords replaced by newer ones.")
    _list("Revoked again, keys:", done.revoked_keys)
    _list("Revoked again, registry tokens:", done.revoked_tokens)
    _list("Disabled again, accounts:", done.disabled_accounts)
    _list("Not in the backup, keys to be made again:", done.unknown_keys)


def _list(title: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        echo(title)
    for identity, text in rows:
        echo(f"  {identity}  {text}")
