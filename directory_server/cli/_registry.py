"""`directory-server registry token`: secret paths of the registry API."""

from __future__ import annotations

import click

from ._context import command_context, wait_for
from ._output import echo, minute, print_table


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
    created, secret = wait_for(context.storage.registry_tokens.create(label))
    echo(f"Created token {created.id} for {label!r}. Its URL is shown only once:", err=True)
    echo(f"{context.public_url}/r/{secret}")
    if context.config.registry.access != "secret-path":
        echo("The token has no effect yet: set registry.access to secret-path.", err=True)


@token.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List all tokens, oldest first."""
    rows = [("ID", "LABEL", "ENDS IN", "CREATED", "STATE")]
    for each in wait_for(command_context(ctx).storage.registry_tokens.list()):
        state = "revoked" if each.revoked_at else "valid"
        rows.append((each.id, each.label, each.last_four, minute(each.created_at), state))
    print_table(rows)


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_context
def revoke(ctx: click.Context, token_id: str) -> None:
    """Revoke a token. From the next request on, its path is not found."""
    wait_for(command_context(ctx).storage.registry_tokens.revoke(token_id))
    echo(f"Token {token_id} is revoked.", err=True)
