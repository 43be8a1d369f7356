"""`directory-server database`: the PostgreSQL database of several machines."""

from __future__ import annotations

import click

from ..config import Config
from ..storage import place, upgrade_database
from ._context import configuration
from ._output import echo


@click.group()
def database() -> None:
    """Upgrade the PostgreSQL database of the setting `database`."""


@database.command()
@click.pass_context
def upgrade(ctx: click.Context) -> None:
    """Bring the schema to this version of the software. Servers do so when they start.

    Processes of the version before work with the new schema too.
    """
    config = _configuration(ctx)
    numbers = upgrade_database(config)
    if numbers:
        echo(f"{place(config)}: ran the migrations {', '.join(map(str, numbers))}.")
    else:
        echo(f"{place(config)}: the schema is up to date.")


def _configuration(ctx: click.Context) -> Config:
    """Return the configuration. Raises ClickException without a database."""
    config = configuration(ctx)
    if not config.database:
        raise click.ClickException("The setting database is empty. Set it to the connection string of PostgreSQL.")
    return config
