"""`directory-server webhook`: webhooks, their secrets, tests and the log of their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from attrs import asdict
from attrs.filters import exclude

from ...cli.context import CommandContext, command_context, in_context, run_in_reactor, wait_for
from ...cli.output import Group, Record, echo, listing
from ...domain.errors import DirectoryError
from .pages import send_test
from .rules import GRACE, KINDS, new_webhook
from .service import new_sender, open_webhooks
from .settings import WebhooksConfig
from .tables import MAX_DELIVERIES, Webhooks

_SHOWN = exclude("seq", "pending", "was_reset", "failures", "next_at", "has_all")
"""The fields of a webhook in lists."""


@click.group(cls=Group)
def webhook() -> None:
    """Add, list, test and remove webhooks, and show what they were sent."""


@webhook.command()
@click.argument("url")
@click.option("--label", required=True, help="Owner or purpose of the receiver.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Kind of changes; by default all.")
@click.option("--namespace", "namespaces", multiple=True, help="Names such as com.example/*; by default all.")
@click.option("--keywords", default="", help="Query that entries must match, with filters as in a search.")
@click.option("--list", "list_name", default="", help="List whose entries it is for; by default all entries.")
@click.pass_context
def add(
    ctx: click.Context,
    url: str,
    label: str,
    kinds: Sequence[str],
    namespaces: Sequence[str],
    keywords: str,
    list_name: str,
) -> None:
    """Add a webhook for later changes, and print its secret to standard output. The secret is shown only once."""
    context = command_context(ctx, new=True)
    added = new_webhook(
        label,
        url,
        kinds,
        namespaces,
        keywords,
        list_name=list_name,
        now=context.now(),
        seq=wait_for(context.storage.store.head()),
        allows_http=bool(context.config.of(WebhooksConfig).allowed_networks),
    )
    secret = wait_for(_webhooks(context).add(added))
    echo(f"Added webhook {added.id} for {added.label!r}. Its secret is shown only once:", err=True)
    echo(secret)


@webhook.command("list")
@listing(
    {
        **{"ID": "id", "LABEL": "label", "URL": "url", "KINDS": "kinds"},
        "NAMES": lambda record: " ".join(record["namespaces"]) or "*",
        **{"KEYWORDS": "keywords", "LIST": "list", "DELIVERED": "delivered_at", "STATE": "state", "ERROR": "error"},
    }
)
@in_context
def list_(context: CommandContext) -> Sequence[Record]:
    """List all webhooks, the oldest first."""
    now, found = context.now(), wait_for(_webhooks(context).list())
    return [{**asdict(webhook, filter=_SHOWN), "state": webhook.state(now)} for webhook in found]


@webhook.command()
@click.argument("webhook_id", metavar="ID")
@click.option(
    "--limit", type=click.IntRange(1, MAX_DELIVERIES), default=50, show_default=True, help="Largest number of attempts."
)
@listing(
    {
        **{"AT": "sent_at", "MESSAGE": "message", "CHANGES": "changes"},
        "STATUS": lambda record: record["status"] or "-",
        **{"SECONDS": "seconds", "ERROR": "error"},
    }
)
@in_context
def log(context: CommandContext, webhook_id: str, limit: int) -> Sequence[Record]:
    """Show the last attempts to send a message, the newest first."""
    webhooks = _webhooks(context)
    wait_for(webhooks.find(webhook_id))
    found = wait_for(webhooks.deliveries(webhook_id, limit))
    return [{"sent_at": delivery.at, **asdict(delivery, filter=exclude("at", "seq"))} for delivery in found]


@webhook.command()
@click.argument("webhook_id", metavar="ID")
@in_context
def test(context: CommandContext, webhook_id: str) -> None:
    """Send a message without changes. The exit code is 1 if the receiver does not accept it."""
    webhooks = _webhooks(context)

    async def run(reactor: Any) -> None:
        sender = new_sender(context.config, reactor, context.now)
        try:
            delivery = await send_test(webhooks, webhook_id, sender, context.now())
        except DirectoryError as error:
            echo(error.message, err=True)
            raise SystemExit(1) from None
        if delivery.error:
            echo(f"Not accepted: {delivery.error}", err=True)
            raise SystemExit(1)
        echo(f"Accepted with status {delivery.status} after {delivery.seconds:.2f} seconds.")

    run_in_reactor(run, "webhook test")


@webhook.command()
@click.argument("webhook_id", metavar="ID")
@in_context
def rotate(context: CommandContext, webhook_id: str) -> None:
    """Print a new secret to standard output. For a day, messages are also signed with the previous one."""
    secret = wait_for(_webhooks(context).rotate(webhook_id, context.now()))
    echo(f"The previous secret of webhook {webhook_id} ends in {GRACE / 3_600:g} hours. The new one:", err=True)
    echo(secret)


@webhook.command()
@click.argument("webhook_id", metavar="ID")
@in_context
def remove(context: CommandContext, webhook_id: str) -> None:
    """Remove a webhook and the log of its messages."""
    wait_for(_webhooks(context).remove(webhook_id))
    echo(f"Webhook {webhook_id} is removed.", err=True)


def _webhooks(context: CommandContext) -> Webhooks:
    return wait_for(open_webhooks(context.storage))
