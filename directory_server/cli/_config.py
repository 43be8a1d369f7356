"""`directory-server config`: the settings of the running server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from .. import serialization
from ..config import Config, Sections, describe, record_folder, settings_tables, shown_settings, typed_settings
from ..services.running import RunningServer
from .context import configuration, servers_of
from .output import echo, json_option, minute, print_json


@click.command()
@click.option("--markdown", is_flag=True, help="Print a table of all settings with their types and defaults instead.")
@json_option
@click.pass_context
def config(ctx: click.Context, markdown: bool, as_json: bool) -> None:
    """Show the settings of the running server, secrets masked.

    If no server runs on the data directory, show the settings that one would have. Standard error says which, and what
    differs from the settings of this command: a server reads settings at its start only.
    """
    own = configuration(ctx)
    sections = {name: type(section) for name, section in own.features.items()}
    if markdown:
        echo(settings_tables(sections).rstrip("\n"))
        return
    here = shown_settings(own)
    servers = servers_of(own)
    shown = servers[0].settings if servers else here
    if as_json:
        records = [_record(server, sections) for server in servers]
        settings, command = typed_settings(shown, sections), typed_settings(here, sections)
        print_json({"servers": records, "settings": settings, "command": command})
        return
    meanings = {setting.name: setting.meaning for setting in describe(own)}
    for name, value in shown.items():
        echo(f"{name} = {value}\n    {meanings.get(name, '')}".rstrip())
    _explain(own, servers, here)


def server_line(server: RunningServer) -> str:
    """Return process, version and start of a server."""
    return f"process {server.pid}, version {server.version}, since {minute(server.started_at)} UTC"


def _record(server: RunningServer, sections: Sections) -> dict[str, object]:
    return {
        "pid": server.pid,
        "version": server.version,
        "started_at": serialization.rfc3339(server.started_at),
        "settings": typed_settings(server.settings, sections),
    }


def _explain(config: Config, servers: Sequence[RunningServer], here: Mapping[str, str]) -> None:
    """Print whose settings these are, and which settings differ."""
    if record_folder(config) is None:
        echo("Servers record no settings with 'database' and without 'index_dir'; these are of the command.", err=True)
        return
    if not servers:
        echo("No server runs on this data directory; these are the settings of the command.", err=True)
        return
    first, *others = servers
    echo(f"These are the settings of the server: {server_line(first)}.", err=True)
    _print_differences(first.settings, here, "the command has")
    for other in others:
        echo(f"Another server: {server_line(other)}.", err=True)
        _print_differences(first.settings, other.settings, "it has")


def _print_differences(shown: Mapping[str, str], other: Mapping[str, str], subject: str) -> None:
    absent = {name.rpartition(".")[0] or name for name in shown if name not in other}
    for section in sorted(absent):
        echo(f"  {section}: {subject} no such settings.", err=True)
    for name in other:
        if shown.get(name) != other[name]:
            echo(f"  {name}: {subject} {other[name]!r}.", err=True)
