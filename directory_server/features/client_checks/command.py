"""`directory-server client-check`: what editors and other clients would see of the public URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from ...cli.context import CommandContext, in_context, run_in_reactor
from ...cli.output import Column, Record, echo, json_option, print_listing
from ...config import read_secret


def _servers(record: Record) -> str:
    return "" if record["servers"] is None else f"{record['servers']}{'+' if record['more'] else ''}"


@click.command("client-check")
@click.option("--url", default="", metavar="URL", help="Public URL of the server; by default web.url.")
@click.option(
    "--registry-url", default="", metavar="URL", help="URL of the registry that editors get, if it has a secret path."
)
@click.option("--key-file", type=click.Path(path_type=Path), help="File with an API key for clients that can send one.")
@click.option(
    "--hold",
    type=click.IntRange(0, 600),
    default=0,
    metavar="SECONDS",
    help="Keep streams open, to find who ends them.",
)
@json_option
@in_context
def client_check(
    context: CommandContext, url: str, registry_url: str, key_file: Path | None, hold: int, as_json: bool
) -> None:
    """Send the requests of editors to the public URL, and say what each would see.

    Nothing is changed. The exit code is 1 if a client has a problem.
    """
    base = (url or context.public_url).rstrip("/")
    for given in filter(None, (base, registry_url)):
        if urlsplit(given).scheme not in ("http", "https") or not urlsplit(given).hostname or not given.isascii():
            raise click.ClickException(f"{given} is not an http or https URL.")
    if urlsplit(base).path:
        raise click.ClickException(f"{base} has a path. The server needs a host name of its own, as web.url states it.")
    key = read_secret("--key-file", str(key_file)) if key_file else ""

    async def run(reactor: Any) -> None:
        # They import the web layer, which installs a reactor.
        from .checks import Checks, sender

        checks = Checks(sender(reactor, hold), base, (registry_url or base).rstrip("/"), key)
        results = await checks.results()
        records = [
            {
                "client": result.client.name,
                "servers": result.servers,
                "more": result.more,
                "credentials": "key" if result.client.key else "none",
                "level": finding.level if finding else "ok",
                "code": finding.code if finding else "",
                "message": finding.message if finding else "",
            }
            for result in results
            for finding in (result.findings or (None,))
        ]
        columns: dict[str, Column] = {
            "CLIENT": "client",
            "SERVERS": _servers,
            "SENDS": "credentials",
            "": "level",
            "MESSAGE": "message",
        }
        print_listing(records, columns, as_json)
        problems = sum(not result.works for result in results)
        if problems:
            echo(f"Clients with a problem at {base}: {problems} of {len(results)}.", err=True)
            raise SystemExit(1)

    run_in_reactor(run, "client-check")
