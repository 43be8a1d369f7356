"""Context of the commands: the configuration, the public URL and the open data directory."""

from __future__ import annotations

import time
from collections.abc import Coroutine, Sequence
from functools import cached_property
from typing import Any, TypeVar

import click
from attrs import frozen

from .. import sqlite
from ..config import Config, endpoints
from ..domain.publishing import SourceLimits
from ..machine import machine_time
from ..run_sync import inline, run_until_done
from ..search import TextAnalysis

T = TypeVar("T")

PROXY = "http://ADDRESS"
"""Placeholder URL of a server that listens only on sockets behind a proxy."""


def base_url(listen: Sequence[str]) -> str:
    """Return the local URL of the first endpoint in `listen` that has one."""
    return next(filter(None, (endpoints.read(each).url for each in listen)), PROXY)


@frozen
class CommandContext:
    """The configuration, the data directory and its adapters."""

    config: Config
    data: sqlite.DataDirectory

    @property
    def public_url(self) -> str:
        """The setting web.url without a trailing slash, else the local URL."""
        return self.config.web.url.rstrip("/") or base_url(self.config.listen)

    @cached_property
    def store(self) -> sqlite.SqliteStore:
        limits = {each.name: SourceLimits(each.max_entries, each.max_bytes) for each in self.config.upstream}
        return sqlite.SqliteStore(
            self.data.directory, inline, TextAnalysis(), list(limits), limits, time.monotonic, time.sleep
        )

    @cached_property
    def curation(self) -> sqlite.SqliteCuration:
        return sqlite.SqliteCuration(self.data.directory, [upstream.name for upstream in self.config.upstream])

    @cached_property
    def mirrors(self) -> sqlite.SqliteMirrors:
        return sqlite.SqliteMirrors(self.data.directory, time.time, inline)

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


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of an adapter's coroutine; the reactor of this process runs while it waits."""
    return run_until_done(coroutine, _main_reactor)


def _main_reactor() -> Any:
    # Few commands need it.
    from ..tap import main_reactor

    return main_reactor()


def configuration(ctx: click.Context) -> Config:
    """Return the configuration that the command group has loaded."""
    config = ctx.find_object(Config)
    assert config is not None
    return config


def command_context(ctx: click.Context, *, new: bool = False) -> CommandContext:
    """Open the data directory until the command ends; create it only if `new`. Raises ClickException."""
    config = configuration(ctx)
    if not new and not (config.data_dir / "directory.db").exists():
        raise click.ClickException(
            f"{config.data_dir.absolute()} is not a data directory: it has no directory.db. Choose another one with "
            "--data-dir or the setting data_dir. 'import', 'sync', 'key create', 'account add' and 'quickstart' "
            "create a data directory."
        )
    data = sqlite.DataDirectory(config.data_dir, synchronous=config.quota.synchronous)
    ctx.call_on_close(data.close)
    return CommandContext(config, data)
