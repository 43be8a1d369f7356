"""`directory-server publisher`: tokens that publish entries, and the audit log of what they published."""

from __future__ import annotations

from collections.abc import Sequence

import click
from attrs import asdict
from attrs.filters import exclude

from ...cli.context import CommandContext, command_context, in_context, wait_for
from ...cli.expiry import expires_option, expiry
from ...cli.output import Group, Record, echo, listing
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
@listing(
    {
        **{"ID": "id", "LABEL": "label", "NAMESPACES": "namespaces", "ENDS IN": "last_four"},
        **{"CREATED": "created_at", "EXPIRES": "expires_at", "STATE": "state"},
    }
)
@in_context
def list_(context: CommandContext) -> Sequence[Record]:
    """List all tokens, oldest first."""
    now = context.now()
    return [{**asdict(token), "state": token.state(now)} for token in wait_for(_tokens(context).list())]


@publisher.command()
@click.argument("token_id", metavar="ID")
@in_context
def revoke(context: CommandContext, token_id: str) -> None:
    """Revoke a token. The next request with it is rejected; its entries stay."""
    wait_for(_tokens(context).revoke(token_id))
    echo(f"Publisher token {token_id} is revoked.", err=True)


@publisher.command()
@click.option(
    "--limit", type=click.IntRange(1, LOG_PAGE), default=100, show_default=True, help="Largest number of records."
)
@listing(
    {
        **{"AT": "logged_at", "TOKEN": "token_id", "LABEL": "label", "ACTION": "action", "NAME": "name"},
        **{"VERSION": "version", "FROM": "network", "OUTCOME": "outcome"},
    }
)
@in_context
def log(context: CommandContext, limit: int) -> Sequence[Record]:
    """Show the audit log, the newest record first."""
    found = wait_for(PublicationLog(context.storage.tables).newest(limit))
    return [{"logged_at": record.at, **asdict(record, filter=exclude("at"))} for _, record in found]


def _tokens(context: CommandContext) -> PublisherTokens:
    return PublisherTokens(context.storage.tables, context.now)
