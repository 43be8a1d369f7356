"""`directory-server backup`, `restore`, and `after-restore` for backups of other programs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from ..config import Config
from ..domain.transfers import Restored
from ..domain.work import BACKUP
from ..services.work_report import reported
from ..storage import Backup, place, put_backup, read_backup, write_backup
from ..texts.wording import counted
from .context import command_context, configuration, servers_of, wait_for
from .output import echo, minute

_FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@click.command()
@_FOLDER
@click.pass_context
def backup(ctx: click.Context, folder: Path) -> None:
    """Copy all stored data to the new folder DIR, and read the copy again. Servers may run.

    DIR has the databases, the secret of sessions and backup.json with their digests, all for this user only. With the
    setting database it has a dump by pg_dump. Settings are not in it: copy their file yourself.
    """
    context = command_context(ctx)

    async def run() -> Backup:
        async with reported(context.storage.work, BACKUP, context.now, always=True):
            return write_backup(context.config, folder, context.now(), lambda text: echo(f"{text} …", err=True))

    made = wait_for(run())
    echo(f"{folder}: {counted(len(made.files), 'file')}, {made.bytes / 1e6:,.1f} MB, verified.")


@click.command()
@_FOLDER
@click.pass_context
def restore(ctx: click.Context, folder: Path) -> None:
    """Replace all stored data by the backup in DIR. Stop the server before.

    The backup is read first, and nothing is changed if it is damaged. The files from before are kept in a folder of the
    data directory. Revocations, disabled accounts, new secrets and new passwords are copied from them, as by
    'after-restore --newer'. With the setting database, that database must be empty.
    """
    config = configuration(ctx)
    _check_stopped(config)
    made = read_backup(folder)
    done = put_backup(config, folder, made, time.time())
    echo(f"{place(config)} has the backup of {minute(made.made_at)} UTC.")
    if done.before:
        echo(f"The files from before are in {done.before}.")
    if done.problem:
        echo(f"Nothing can be copied from the files from before: {done.problem}", err=True)
    storage = command_context(ctx).storage
    result = wait_for(storage.control.after_restore(None)) if done.result is None else done.result
    _print_restored(result, is_compared=done.problem is None)
    echo("Start the server. With audit.key_file, run 'audit verify --max-age 0' first.")


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
    _check_stopped(configuration(ctx))
    _print_restored(wait_for(command_context(ctx).storage.control.after_restore(newer)), is_compared=newer is not None)


def _check_stopped(config: Config) -> None:
    """Raise ClickException if a server runs on the data directory."""
    # A process on PostgreSQL notices a restore by itself, and may run on another machine.
    if not config.database and (servers := servers_of(config)):
        pids = ", ".join(str(server.pid) for server in servers)
        raise click.ClickException(
            f"A server runs on {config.data_dir}, with the process id {pids}. Stop it, then run this command again."
        )


def _print_restored(result: Restored, *, is_compared: bool) -> None:
    echo("Readers of the change feed start over: the log has a new id.")
    echo(f"{counted(result.sessions, 'session')} and {counted(result.links, 'link')} ended.")
    if not is_compared:
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
