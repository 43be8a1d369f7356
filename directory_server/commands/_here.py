"""What these commands work on."""

from __future__ import annotations

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


def here(ctx: click.Context) -> Here:
    """Open the data directory for as long as the command runs."""
    config: Config = ctx.find_object(Config)  # type: ignore[assignment]
    data = embedded.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
    ctx.call_on_close(data.close)
    sources = [upstream.name for upstream in config.upstream]
    return Here(
        config,
        embedded.SqliteStore(data.directory, embedded.inline, TextAnalysis(), sources),
        embedded.SqliteCuration(data.directory, sources),
        embedded.SqliteMirrors(data.directory, embedded.inline),
    )
