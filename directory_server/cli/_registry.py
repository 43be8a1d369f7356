"""`directory-server registry token`: the paths by which editors may read the registry API."""

from __future__ import annotations

import time

import click

from .. import sqlite
from ..run_sync import run_sync
from ._context import opened
from ._output import echo
from .quickstart import public_url


@click.group()
def registry() -> None:
    """Say who may read the registry API."""


@registry.group()
def token() -> None:
    """Make, list and revoke the tokens that stand in its paths (registry.access = "secret-path")."""


@token.command()
@click.option("--label", required=True, help="Whom or what the token is for.")
@click.pass_context
def create(ctx: click.Context, label: str) -> None:
    """Make a token and print the URL for editors, this once; nothing else goes to standard output."""
    config, data = opened(ctx, new=True)
    made, secret = run_sync(sqlite.SqliteRegistryTokens(data.directory, time.time).create(label))
    echo(f"Token {made.id} for {label!r}; its URL is shown this once:", err=True)
    echo(f"{public_url(config.web.url, config.listen)}/r/{secret}")
    if config.registry.access != "secret-path":
        echo("It opens nothing yet: set registry.access to secret-path.", err=True)


@token.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List all tokens, oldest first."""
    _, data = opened(ctx, new=False)
    rows = [("ID", "LABEL", "ENDS IN", "CREATED", "STATE")]
    for each in run_sync(sqlite.SqliteRegistryTokens(data.directory, time.time).list()):
        day = time.strftime("%Y-%m-%d", time.gmtime(each.created_at))
        rows.append((each.id, each.label, each.last_four, day, "revoked" if each.revoked_at else "good"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_context
def revoke(ctx: click.Context, token_id: str) -> None:
    """End a token now: from the next request on, its path is as if it had never been."""
    _, data = opened(ctx, new=False)
    run_sync(sqlite.SqliteRegistryTokens(data.directory, time.time).revoke(token_id))
    echo(f"Token {token_id} is revoked.", err=True)
