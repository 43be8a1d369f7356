"""What these commands work on."""

from __future__ import annotations

import time

import click
from attrs import frozen

from .. import sqlite
from ..config import Config
from ..run_sync import inline
from ..search import TextAnalysis


@frozen
class EntriesContext:
    """The entries of the data directory, and what is remembered of upstreams."""

    config: Config
    store: sqlite.SqliteStore
    curation: sqlite.SqliteCuration
    mirrors: sqlite.SqliteMirrors


def opened(ctx: click.Context, *, new: bool) -> tuple[Config, sqlite.DataDirectory]:
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
    data = sqlite.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
    ctx.call_on_close(data.close)
    return config, data


def store(config: Config, data: sqlite.DataDirectory) -> sqlite.SqliteStore:
    """Return the entries in the data directory, under the limits of the configuration."""
    sources = {each.name: sqlite.SourceLimits(each.max_entries, each.max_bytes) for each in config.upstream}
    return sqlite.SqliteStore(
        data.directory, inline, TextAnalysis(), list(sources), sources, time.monotonic, time.sleep
    )


def entries_context(ctx: click.Context, *, new: bool = False) -> EntriesContext:
    """Return what is in the data directory."""
    config, data = opened(ctx, new=new)
    return EntriesContext(
        config,
        store(config, data),
        sqlite.SqliteCuration(data.directory, [upstream.name for upstream in config.upstream]),
        sqlite.SqliteMirrors(data.directory, inline),
    )
