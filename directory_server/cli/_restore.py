"""`directory-server after-restore`: what has to be done before a restored backup is served."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from .. import sqlite
from ._context import opened
from ._output import echo


@click.command("after-restore")
@click.option(
    "--newer",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The directory.db from before the restore, if it can still be read.",
)
@click.pass_context
def after_restore(ctx: click.Context, newer: Path | None) -> None:
    """End what a restored backup has brought back to life; to be run before the server starts.

    A backup has keys that were revoked since, sessions that were signed out and links that were used. All sessions
    and links end, and readers of the change feed are made to start over. With --newer, keys, registry tokens and
    accounts that are revoked or disabled there are here too, and replaced secrets and passwords are carried over.
    """
    _, data = opened(ctx, new=False)
    done = sqlite.after_restore(data.directory, newer)
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
