"""`directory-server database`: the PostgreSQL database of several machines; and `after-restore`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..config import Config
from ..sanitize import clean
from ..storage import import_data_directory, place, upgrade_database
from ..wording import counted
from .context import command_context, configuration, servers_of, wait_for
from .output import Group, echo


@click.group(cls=Group)
def database() -> None:
    """Upgrade the PostgreSQL database of the setting `database`, or import a data directory into it."""


@database.command()
@click.pass_context
def upgrade(ctx: click.Context) -> None:
    """Bring the schema to this version of the software. Servers do so when they start.

    Processes of the version before work with the new schema too.
    """
    config = _configuration(ctx)
    steps = upgrade_database(config)
    if steps:
        echo(f"{place(config)}: ran the migrations {', '.join(steps)}.")
    else:
        echo(f"{place(config)}: the schema is up to date.")


@database.command("import")
@click.argument("folder", metavar="DATA_DIR", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.pass_context
def import_(ctx: click.Context, folder: Path) -> None:
    """Copy all of DATA_DIR into the empty database, and compare both.

    Stop all servers before. Keys, sessions, cursors of the change feed and spent quota stay valid. An error leaves the
    database empty. DATA_DIR does not change.
    """
    config = _configuration(ctx)
    imported = import_data_directory(config, folder)
    for text in imported.replaced:
        echo(clean(text), err=True)
    for table, rows in imported.rows.items():
        if rows:
            echo(f"{table:16}{rows:,}")
    echo(f"{folder} has been imported into {place(config)}.")


def _configuration(ctx: click.Context) -> Config:
    """Return the configuration. Raises ClickException without a database."""
    config = configuration(ctx)
    if not config.database:
        raise click.ClickException("The setting database is empty. Set it to the connection string of PostgreSQL.")
    return config


@click.command("after-restore")
@click.option(
    "--newer",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The directory.db from before the restore, if it is readable. Not for PostgreSQL.",
)
@click.pass_context
def after_restore(ctx: click.Context, newer: Path | None) -> None:
    """Invalidate outdated sessions, links and keys of a restored backup. Run it before the server starts.

    A backup can contain keys that were revoked later, ended sessions and used links. All sessions and links end, and
    readers of the change feed must start over. With --newer, revocations and disabled accounts, new secrets and new
    passwords are copied from the newer database.
    """
    config = configuration(ctx)
    # A process on PostgreSQL notices a restore by itself, and may run on another machine.
    if not config.database and (servers := servers_of(config)):
        pids = ", ".join(str(server.pid) for server in servers)
        raise click.ClickException(
            f"A server runs on {config.data_dir}, with the process id {pids}. Stop it, restore the backup, then run "
            "this command."
        )
    result = wait_for(command_context(ctx).storage.after_restore(newer))
    echo("Readers of the change feed start over: the log has a new id.")
    echo(f"{counted(result.sessions, 'session')} and {counted(result.links, 'link')} ended.")
    if newer is None:
        _print_list(
            "Valid keys. If a key was revoked after the backup, revoke it again with 'key revoke ID':",
            result.valid_keys,
        )
        return
    secrets, passwords = counted(result.retired_secrets, "secret"), counted(result.passwords, "password")
    echo(f"{secrets} and {passwords} replaced by newer ones.")
    _print_list("Revoked again, keys:", result.revoked_keys)
    _print_list("Revoked again, tokens:", result.revoked_tokens)
    _print_list("Disabled again, accounts:", result.disabled_accounts)
    _print_list("Keys missing from the backup; create them again:", result.unknown_keys)


def _print_list(title: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        echo(title)
    for identifier, text in rows:
        echo(f"  {identifier}  {text}")
