"""`directory-server publisher`: tokens that publish entries, and the audit log of what they published."""

from __future__ import annotations

from collections.abc import Sequence

import click
from attrs import asdict
from attrs.filters import exclude

from ...cli.context import CommandContext, command_context, wait_for
from ...cli.expiry import expires_option, expiry
from ...cli.output import Group, echo, json_option, print_listing
from .settings import PublishConfig
from .tables import PublicationLog, PublisherTokens
from .tokens import LOG_PAGE


@click.group(cls=Group)
def publisher() -> None:
    """Create, list and revoke publisher tokens, and show what they published."""


@publisher.command()
@click.option("--label", required=True, help="Owner or purpose of the token, as the audit log shows it.")
@click.option(
    "--namespace",
    "namespaces",
    required=True,
    multiple=True,
    help="Names that the token may publish: io.acme/*, io.acme/tool or io.acme.*/*; may be repeated.",
)
@expires_option
@click.pass_context
def create(ctx: click.Context, label: str, namespaces: Sequence[str], expires: str) -> None:
    """Create a token and print its secret to standard output. The secret is shown only once."""
    context = command_context(ctx, new=True)
    tokens = _tokens(context)
    created, secret = wait_for(tokens.create(label, namespaces, expires_at=expiry(expires)))
    allowed = ", ".join(created.namespaces)
    echo(f"Created publisher token {created.id} for {label!r}: {allowed}. Its secret is shown only once:", err=True)
    echo(secret)
    if not context.config.of(PublishConfig).enabled:
        echo("The token has no effect yet: set publish.enabled to true.", err=True)


@publisher.command("list")
@json_option
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """List all tokens, oldest first."""
    context = command_context(ctx)
    now = context.now()
    print_listing(
        [{**asdict(each), "state": each.state(now)} for each in wait_for(_tokens(context).list())],
        {
            **{"ID": "id", "LABEL": "label", "NAMESPACES": "namespaces", "ENDS IN": "last_four"},
            **{"CREATED": "created_at", "EXPIRES": "expires_at", "STATE": "state"},
        },
        as_json,
    )


@publisher.command()
@click.argument("token_id", metavar="ID")
@click.pass_context
def revoke(ctx: click.Context, token_id: str) -> None:
    """Revoke a token. The next request with it is rejected; its entries stay."""
    wait_for(_tokens(command_context(ctx)).revoke(token_id))
    echo(f"Publisher token {token_id} is revoked.", err=True)


@publisher.command()
@click.option(
    "--limit", type=click.IntRange(1, LOG_PAGE), default=100, show_default=True, help="Largest number of records."
)
@json_option
@click.pass_context
def log(ctx: click.Context, limit: int, as_json: bool) -> None:
    """Show the audit log, the newest record first."""
    print_listing(
        [
            {"logged_at": each.at, **asdict(each, filter=exclude("at"))}
            for _, each in wait_for(PublicationLog(command_context(ctx).storage.tables).newest(limit))
        ],
        {
            **{"AT": "logged_at", "TOKEN": "token_id", "LABEL": "label", "ACTION": "action", "NAME": "name"},
            **{"VERSION": "version", "FROM": "network", "OUTCOME": "outcome"},
        },
        as_json,
    )


def _tokens(context: CommandContext) -> PublisherTokens:
    return PublisherTokens(context.storage.tables, context.now)
