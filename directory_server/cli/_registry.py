"""`directory-server registry token`: secret paths of the registry API."""

from __future__ import annotations

import time

import click

from ..run_sync import run_sync
from ._context import command_context
from ._output import echo
from .quickstart import public_url


@click.group()
def registry() -> None:
    """Manage access to the registry API."""


@registry.group()
def token() -> None:
    """Create, list and revoke the tokens in its secret paths (registry.access = "secret-path")."""


@token.command()
@click.option("--label", required=True, help="Owner or purpose of the token.")
@click.pass_context
def create(ctx: click.Context, label: str) -> None:
    """Create a token and print its URL for editors to standard output. The URL is shown only once."""
    context = command_context(ctx, new=True)
    config = context.config
    created, secret = run_sync(context.registry_tokens.create(label))
    echo(f"Created token {created.id} for {label!r}. Its URL is shown only once:", err=True)
    echo(f"{public_url(config.web.url, config.listen)}/r/{secret}")
    if config.registry.access != "secret-path":
        echo("The token has no effect yet: set registry.access to secret-path.", err=True)


@token.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List all tokens, oldest first."""
    rows = [("ID", "LABEL", "ENDS IN", "CREATED", "STATE")]
    for each in run_sync(command_context(ctx).registry_tokens.list()):
        day = time.strftime("%Y-%m-%d", time.gmtime(each.created_at))
        rows.append((each.id, each.label, each.last_four, day, "revoked" if each.revoked_at else "good"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_context
def revoke(ctx: click.Context, token_id: str) -> None:
    """Revoke a token. From the next request on, its path is not found."""
    run_sync(command_context(ctx).registry_tokens.revoke(token_id))
    echo(f"Token {token_id} is revoked.", err=True)
