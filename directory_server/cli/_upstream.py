"""`directory-server upstream`: the upstreams that were synced, and their last sync runs."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any

import click
from attrs import asdict

from ..domain.errors import NotFound
from ..domain.upstreams import UpstreamState
from .context import CommandContext, in_context, wait_for
from .output import Group, Record, listing


@click.group(cls=Group)
def upstream() -> None:
    """List the upstreams, and show their last sync runs. 'sync' syncs them."""


_NUMBERS = ("entries", "added", "changed", "removed", "rejected")


@upstream.command("list")
@listing(
    {
        "NAME": "name",
        "ENTRIES": lambda record: f"{record['entries']:,}",
        **{"LAST SUCCESS": "last_success_at", "FAILURES": "failures"},
        "ERROR": itemgetter("error"),
    }
)
@in_context
def list_(context: CommandContext) -> Iterable[Record]:
    """List all upstreams that were ever synced, by name."""
    return [upstream_record(state) for state in wait_for(context.storage.mirrors.all())]


@upstream.command()
@click.argument("name", required=False)
@listing(
    {
        **{"UPSTREAM": "upstream", "START": "started_at"},
        "SECONDS": lambda record: f"{record['ended_at'] - record['started_at']:.1f}",
        "KIND": lambda record: "full" if record["full"] else "incremental",
        **{number.upper(): number for number in _NUMBERS},
        "RESULT": lambda record: record["error"] or record["note"] or "done",
    }
)
@in_context
def log(context: CommandContext, name: str | None) -> Iterable[Record]:
    """Show the last 20 sync runs of each upstream, or of the one called NAME, newest first."""
    mirrors = context.storage.mirrors
    names = [state.name for state in wait_for(mirrors.all()) if name in (None, state.name)]
    if name is not None and not names:
        raise NotFound(f"No upstream {name!r} was ever synced.")
    return [{"upstream": upstream, **asdict(run)} for upstream in names for run in wait_for(mirrors.runs(upstream))]


def upstream_record(state: UpstreamState) -> dict[str, Any]:
    return {
        "name": state.name,
        "entries": state.entries,
        "last_run_at": state.last_run,
        "last_success_at": state.last_success,
        "next_run_at": state.next_run or None,
        "failures": state.failures,
        "error": state.error,
    }
