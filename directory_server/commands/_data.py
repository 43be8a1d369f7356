"""The data directory that a command works on."""

from __future__ import annotations

import click

from .. import embedded
from ..config import Config


def configuration(ctx: click.Context) -> Config:
    """Return the settings that the command goes by."""
    config: Config = ctx.find_object(Config)  # type: ignore[assignment]
    return config


def data_directory(ctx: click.Context, *, new: bool = False) -> embedded.DataDirectory:
    """Open the data directory while the command runs; it must be there unless the command may make a `new` one."""
    config = configuration(ctx)
    if not new and not (config.data_dir / "directory.db").exists():
        raise click.ClickException(
            f"{config.data_dir.absolute()} is no data directory, for it has no directory.db. The option --data-dir or "
            "the setting data_dir names another; 'import', 'key create', 'account add' and 'quickstart' make one."
        )
    data = embedded.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
    ctx.call_on_close(data.close)
    return data
