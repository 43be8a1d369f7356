"""`directory-server`: administration of a data directory or a database, with or without a running server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..config import ConfigError, load, setting_names
from ..domain.errors import DirectoryError, Unavailable
from ..features import FEATURES, SECTIONS
from ..sanitize import clean
from ..storage import place
from ._account import account
from ._config import config
from ._database import after_restore, database
from ._entry import entry
from ._import import import_
from ._key import key
from ._quickstart import quickstart
from ._registry import registry
from ._status import status
from ._sync import sync
from ._upstream import upstream
from .context import TRAILS, configuration
from .output import Group
from .resource_command import add_resource


class Commands(Group):
    """A command group that prints expected errors as one line without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Unavailable as error:
            raise click.ClickException(f"Cannot use {place(configuration(ctx))}: {error.message}") from None
        except DirectoryError as error:
            raise click.ClickException(clean(error.message)) from None
        except ConfigError as error:
            raise click.ClickException(str(error)) from None


def _complete_setting(_ctx: click.Context, _parameter: click.Parameter, word: str) -> list[str]:
    """Return the names of settings that begin with `word`, for completion in shells."""
    return [f"{name}=" for name in setting_names(SECTIONS) if name.startswith(word)]


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="directory-server")
@click.option("--data-dir", type=click.Path(path_type=Path, file_okay=False), help="Data directory.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="TOML file of settings.")
@click.option(
    *("--set", "settings"),
    multiple=True,
    metavar="SECTION.KEY=VALUE",
    shell_complete=_complete_setting,
    help="A setting; may be repeated.",
)
@click.pass_context
def main(ctx: click.Context, data_dir: Path | None, file: Path | None, settings: Sequence[str]) -> None:
    """Manage the data directory or the database of an MCP directory server. The server may be running."""
    ctx.obj = load(file=file, environ=os.environ, settings=settings, data_dir=data_dir, sections=SECTIONS)


for command in (
    *(account, after_restore, config, database, entry, import_, key),
    *(quickstart, registry, status, sync, upstream),
):
    main.add_command(command)
for feature in FEATURES:
    for reference in feature.resources:
        add_resource(main, feature.part(reference))
    if feature.command:
        main.add_command(feature.part(feature.command))
    if feature.trail:
        TRAILS.append(feature.command_trail)
