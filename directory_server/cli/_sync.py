"""`directory-server sync`: one round of upstreams, now."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import attrs
import click
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from .. import mirror
from ..domain.errors import DirectoryError
from ..run_sync import inline
from ._context import EntriesContext, entries_context
from ._output import echo


@click.command()
@click.argument("name", required=False)
@click.option("--full", is_flag=True, help="Walk everything, not only what is new, and see what is gone.")
@click.pass_context
def sync(ctx: click.Context, name: str | None, full: bool) -> None:
    """Take one round of all upstreams that are configured, or of the one called NAME, now.

    A server that runs on the same data directory answers with what is new within seconds. Fails where one fails.
    """
    at = entries_context(ctx, new=True)
    upstreams = [mirror.Upstream(**attrs.asdict(each)) for each in at.config.upstream if name in (None, each.name)]
    if not upstreams:
        known = ", ".join(each.name for each in at.config.upstream) or "none"
        raise click.ClickException(f"No upstream {name + ' ' if name else ''}is configured; there are: {known}.")
    from twisted.internet import task

    task.react(_rounds, (at, upstreams, full))


def _rounds(reactor: Any, at: EntriesContext, upstreams: Sequence[mirror.Upstream], full: bool) -> Deferred[None]:
    taking = Deferred.fromCoroutine(_take(reactor, at, upstreams, full))
    # So that the lease is given back when somebody presses Ctrl-C.
    reactor.addSystemEventTrigger("before", "shutdown", taking.cancel)
    return taking.addErrback(_stopped)


def _stopped(failure: Failure) -> None:
    """End with the exit code 1 and one line where a signal has stopped the rounds."""
    failure.trap(CancelledError)
    echo("Stopped by a signal; the next round goes on from here.", err=True)
    raise SystemExit(1)


async def _take(reactor: Any, at: EntriesContext, upstreams: Sequence[mirror.Upstream], full: bool) -> None:
    following = mirror.mirror(reactor, at.store.publish, at.mirrors, inline, time.time, os.environ)
    failed = False
    for upstream in upstreams:
        began = time.monotonic()
        try:
            with _bar(upstream.name) as tell:
                report = await following.round(upstream, full=full, tell=tell)
        except DirectoryError as error:
            failed = True
            echo(f"{upstream.name}: {error.message}", err=True)
        else:
            _tell(upstream.name, report, time.monotonic() - began)
    await following.close()
    if failed:
        raise SystemExit(1)


@contextmanager
def _bar(name: str) -> Iterator[Callable[[mirror.SyncReport], None]]:
    """Show on a terminal how far a round has come: pages, entries, how fast, and how long it will take."""
    if not sys.stderr.isatty():
        yield lambda report: None
        return
    bar: Any = None
    began, shown = time.monotonic(), 0

    def show(report: mirror.SyncReport) -> None:
        nonlocal bar, shown
        if bar is None:
            # How many are new nobody knows before they have come.
            known = {"length": report.expected} if report.full and report.expected else {"iterable": count()}
            bar = click.progressbar(**known, label=name, file=sys.stderr, show_pos=bool(report.expected))
            bar.__enter__()
        rate = report.entries / max(time.monotonic() - began, 0.001)
        bar.label = f"{name}: {report.pages:,} pages, {report.entries:,} entries, {rate:,.0f}/s"
        bar.update(report.entries - shown)
        shown = report.entries

    try:
        yield show
    finally:
        if bar is not None:
            bar.__exit__(None, None, None)


def _tell(name: str, report: mirror.SyncReport, seconds: float) -> None:
    for refusal in report.refusals:
        echo(f"refused {refusal}", err=True)
    if report.refused > len(report.refusals):
        echo(f"… and {report.refused - len(report.refusals):,} more refused", err=True)
    if report.too_old:
        echo(f"{report.too_old:,} versions not kept: older than the latest of their name that are.", err=True)
    what = "all" if report.full else "what is new"
    echo(
        f"{name}: {what}, {report.entries:,} entries in {report.pages:,} pages and {seconds:.1f} seconds: "
        f"{report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged, "
        f"{report.removed:,} removed, {report.refused:,} refused."
    )
