"""`directory-server sync`: one sync run of the upstreams."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import click

from ..config import Config
from ..domain.errors import DirectoryError
from ..runtime.run_sync import inline
from ..texts.wording import counted, entries
from .context import CommandContext, command_context, run_in_reactor, servers_of, wait_for
from .output import ShowProgress, echo, print_errors, progress_bar

# Functions import the mirror: with its HTTP client it takes a third of a second, which other commands do not need.
if TYPE_CHECKING:
    from .. import mirror


@click.command()
@click.argument("name", required=False)
@click.option("--full", is_flag=True, help="Full sync: read all entries, and delete those that upstream has deleted.")
@click.pass_context
def sync(ctx: click.Context, name: str | None, full: bool) -> None:
    """Sync all configured upstreams once, or only the one called NAME.

    A running server on the same data serves new entries within seconds. Without upstreams of its own, the command makes
    the running server sync those that it follows. The exit code is 1 if a sync fails.
    """
    context = command_context(ctx, new=True)
    upstreams = [upstream for upstream in configured_upstreams(context.config) if name in (None, upstream.name)]
    if not upstreams and (followed := _followed(context.config, name)):
        for upstream in followed:
            wait_for(context.storage.mirrors.request(upstream))
            echo(f"{upstream}: the running server begins a sync run within half a minute.")
        echo(f"See its progress at {context.public_url}/admin/upstreams, or with 'upstream log'.")
        return
    if not upstreams:
        known = ", ".join(upstream.name for upstream in context.config.upstream)
        raise click.ClickException(
            f"No upstream {name} is configured; there are: {known}."
            if known
            else "No upstream is configured. Pass the settings of the server with --config FILE, or --set upstream=URL."
        )

    async def run(reactor: Any) -> None:
        if not await sync_all(reactor, context, upstreams, full=full):
            raise SystemExit(1)

    run_in_reactor(run)


def _followed(config: Config, name: str | None) -> list[str]:
    """Return the upstreams that a running server follows, or only the one called `name`."""
    settings = [setting for server in servers_of(config) for setting in server.settings]
    matches = [re.fullmatch(r"upstream\.(.+)\.url", setting) for setting in settings]
    return [match[1] for match in dict.fromkeys(filter(None, matches)) if name in (None, match[1])]


def configured_upstreams(config: Config) -> list[mirror.Upstream]:
    from .. import mirror

    return [mirror.Upstream(**attrs.asdict(upstream)) for upstream in config.upstream]


async def sync_all(reactor: Any, context: CommandContext, upstreams: Sequence[mirror.Upstream], *, full: bool) -> bool:
    """Sync `upstreams` one after the other with progress; print the reports. Return whether all succeeded."""
    from .. import mirror

    storage = context.storage
    service = mirror.mirror(
        reactor, storage.store.publish, storage.mirrors, storage.work, inline, time.time, os.environ
    )
    succeeded = True
    for upstream in upstreams:
        start = time.monotonic()
        try:
            with progress_bar(upstream.name) as show:
                report = await service.sync(upstream, full=full, on_progress=_progress(upstream.name, show, start))
        except DirectoryError as error:
            succeeded = False
            echo(f"{upstream.name}: {error.message}", err=True)
        else:
            _print_report(upstream.name, report, time.monotonic() - start)
    await service.close()
    return succeeded


def _progress(name: str, show: ShowProgress, start: float) -> Callable[[mirror.SyncReport], None]:
    """Return a function that shows pages, entries and entries per second of a sync that started at `start`."""

    def show_report(report: mirror.SyncReport) -> None:
        rate = report.entries / max(time.monotonic() - start, 0.001)
        label = f"{name}: {counted(report.pages, 'page')}, {entries(report.entries)}, {rate:,.0f}/s"
        # Only a full sync knows the number of entries in advance.
        length = report.expected if report.full and report.expected else None
        show(report.names, label=label, length=length, show_pos=bool(report.expected))

    return show_report


def _print_report(name: str, report: mirror.SyncReport, seconds: float) -> None:
    print_errors(report.reasons, report.rejected, report.too_old)
    kind = "full sync" if report.full else "incremental sync"
    # A file has no pages.
    pages = f"{counted(report.pages, 'page')} and " if report.pages else ""
    echo(
        f"{name}: {kind} of {entries(report.entries)} in {pages}{seconds:.1f} seconds: "
        f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged, "
        f"{report.removed:,} removed, {report.rejected:,} rejected."
        f"{report.note and f' {report.note}'}"
    )
