"""Context of the commands: the configuration and the open data directory."""

from __future__ import annotations

import time
from functools import cached_property

import click
from attrs import frozen

from .. import sqlite
from ..config import Config
from ..machine import machine_time
from ..run_sync import inline
from ..search import TextAnalysis


@frozen
class CommandContext:
    """The configuration, the data directory and its adapters."""

    config: Config
    data: sqlite.DataDirectory

    @cached_property
    def store(self) -> sqlite.SqliteStore:
        limits = {each.name: sqlite.SourceLimits(each.max_entries, each.max_bytes) for each in self.config.upstream}
        return sqlite.SqliteStore(
            self.data.directory, inline, TextAnalysis(), list(limits), limits, time.monotonic, time.sleep
        )

    @cached_property
    def curation(self) -> sqlite.SqliteCuration:
        return sqlite.SqliteCuration(self.data.directory, [upstream.name for upstream in self.config.upstream])

    @cached_property
    def mirrors(self) -> sqlite.SqliteMirrors:
        return sqlite.SqliteMirrors(self.data.directory, inline)

    @cached_property
    def keys(self) -> sqlite.SqliteKeyRing:
        return sqlite.SqliteKeyRing(self.data.directory, time.time)

    @cached_property
    def quota(self) -> sqlite.SqliteQuota:
        clock = sqlite.quota_clock(self.data.quota, machine_time())
        return sqlite.SqliteQuota(self.data.quota, clock, wall=time.time)

    @cached_property
    def accounts(self) -> sqlite.SqliteAccounts:
        return sqlite.SqliteAccounts(self.data.directory, time.time)

    @cached_property
    def registry_tokens(self) -> sqlite.SqliteRegistryTokens:
        return sqlite.SqliteRegistryTokens(self.data.directory, time.time)


def command_context(ctx: click.Context, *, new: bool = False) -> CommandContext:
    """Open the data directory until the command ends; create it only if `new`. Raises ClickException."""
    config: Config = ctx.find_object(Config)  # type: ignore[assignment]
    if not new and not (config.data_dir / "directory.db").exists():
        raise click.ClickException(
            f"{config.data_dir.absolute()} is not a data directory: it has no directory.db. Choose another one with "
            "--data-dir or the setting data_dir. 'import', 'sync', 'key create', 'account add' and 'quickstart' "
            "create a data directory."
        )
    data = sqlite.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
    ctx.call_on_close(data.close)
    return CommandContext(config, data)
