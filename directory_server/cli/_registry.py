"""`directory-server registry token`: secret paths of the registry API."""

from __future__ import annotations

from collections.abc import Iterable

import click
from attrs import asdict

from .context import CommandContext, command_context, in_context, wait_for
from .output import Group, Record, echo, listing


@click.group(cls=Group)
def registry() -> None:
    """Manage access to the registry API."""


@registry.group(cls=Group)
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
@listing(
    {
        **{"ID": "id", "LABEL": "label", "ENDS IN": "last_four", "CREATED": "created_at"},
        "STATE": lambda record: "revoked" if record["revoked_at"] else "valid",
    }
)
@in_context
def list_(context: CommandContext) -> Iterable[Record]:
    """List all tokens, oldest first."""
    return map(asdict, wait_for(context.storage.registry_tokens.list()))


@token.command()
@click.argument("token_id", metavar="ID")
@in_context
def revoke(context: CommandContext, token_id: str) -> None:
    """Revoke a token. From the next request on, its path is not found."""
    wait_for(context.storage.registry_tokens.revoke(token_id))
    echo(f"Token {token_id} is revoked.", err=True)
