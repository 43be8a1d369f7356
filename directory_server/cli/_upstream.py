"""`directory-server upstream`: the upstreams that were synced, and their last sync runs."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import click
from attrs import asdict

from ..domain.errors import NotFound
from ..domain.upstreams import FinishedRun, UpstreamState
from .context import command_context, wait_for
from .output import Group, json_option, moment, print_listing


@click.group(cls=Group)
def upstream() -> None:
    """List the upstreams, and show their last sync runs. 'sync' syncs them."""


@upstream.command("list")
@json_option
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """List all upstreams that were ever synced, by name."""
    mirrors = command_context(ctx).storage.mirrors
    print_listing(
        [upstream_record(state) for state in wait_for(mirrors.all())],
        {
            "NAME": itemgetter("name"),
            "ENTRIES": lambda record: f"{record['entries']:,}",
            "LAST SUCCESS": lambda record: moment(record["last_success_at"]),
            "FAILURES": itemgetter("failures"),
            "ERROR": itemgetter("error"),
        },
        as_json,
    )


@upstream.command()
@click.argument("name", required=False)
@json_option
@click.pass_context
def log(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Show the last 20 sync runs of each upstream, or of the one called NAME, newest first."""
    mirrors = command_context(ctx).storage.mirrors
    names = [state.name for state in wait_for(mirrors.all()) if name in (None, state.name)]
    if name is not None and not names:
        raise NotFound(f"No upstream {name!r} was ever synced.")
    print_listing(
        [_run_record(upstream, run) for upstream in names for run in wait_for(mirrors.runs(upstream))],
        {
            "UPSTREAM": itemgetter("upstream"),
            "START": lambda record: moment(record["started_at"]),
            "SECONDS": lambda record: f"{record['ended_at'] - record['started_at']:.1f}",
            "KIND": lambda record: "full" if record["full"] else "incremental",
            **{number.upper(): itemgetter(number) for number in _NUMBERS},
            "RESULT": lambda record: record["error"] or record["note"] or "done",
        },
        as_json,
    )


_NUMBERS = ("entries", "added", "changed", "removed", "rejected")


def upstream_record(state: UpstreamState) -> dict[str, Any]:
    """Return the record of an upstream in listings."""
    return {
        "name": state.name,
        "entries": state.entries,
        "last_run_at": state.last_run,
        "last_success_at": state.last_success,
        "next_run_at": state.next_run or None,
        "failures": state.failures,
        "error": state.error,
    }


def _run_record(name: str, run: FinishedRun) -> dict[str, Any]:
    return {"upstream": name, **asdict(run)}
