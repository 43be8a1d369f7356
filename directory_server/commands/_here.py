"""What these commands work on."""

from __future__ import annotations

import time

import click
from attrs import frozen

from .. import embedded
from ..config import Config
from ..search import TextAnalysis


@frozen
class Here:
    """The entries of the data directory, and what is remembered of upstreams."""

    config: Config
    store: embedded.SqliteStore
    curation: embedded.SqliteCuration
    mirrors: embedded.SqliteMirrors


def opened(ctx: click.Context, *, new: bool) -> tuple[Config, embedded.DataDirectory]:
    """Return the configuration, and the data directory, open for as long as the command runs.

    It must be there unless the command may make a `new` one.
    """
    config: Config = ctx.find_object(Config)  # type: ignore[assignment]
    if not new and not (config.data_dir / "directory.db").exists():
        raise click.ClickException(
            f"{config.data_dir.absolute()} is no data directory, for it has no directory.db. The option --data-dir or "
            "the setting data_dir names another; 'import', 'sync', 'key create', 'account add' and 'quickstart' make "
            "one."
        )
    data = embedded.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
    ctx.call_on_close(data.close)
    return config, data


def store(config: Config, data: embedded.DataDirectory) -> embedded.SqliteStore:
    """Return the entries in the data directory, under the limits of the configuration."""
    sources = {each.name: embedded.SourceLimits(each.max_entries, each.max_bytes) for each in config.upstream}
    return embedded.SqliteStore(
        data.directory, embedded.inline, TextAnalysis(), list(sources), sources, time.monotonic, time.sleep
    )


def here(ctx: click.Context, *, new: bool = False) -> Here:
    """Return what is in the data directory."""
    config, data = opened(ctx, new=new)
    return Here(
        config,
        store(config, data),
        embedded.SqliteCuration(data.directory, [upstream.name for upstream in config.upstream]),
        embedded.SqliteMirrors(data.directory, embedded.inline),
    )
