"""`directory-server database`: the PostgreSQL database of several machines."""

from __future__ import annotations

from pathlib import Path

import click

from ..config import Config
from ..storage import import_data_directory, place, upgrade_database
from ..texts.sanitize import clean
from .context import configuration
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
