"""`directory-server key`: create, list, rotate and revoke API keys."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

import click

from ..domain.keys import MAX_LIMIT, ApiKey
from ..domain.roster import ListedKey
from .context import PAGE, CommandContext, command_context, in_context, paged, wait_for
from .expiry import duration, expires_option, expiry
from .output import Group, Record, echo, listing, moment


@click.group(cls=Group)
def key() -> None:
    """Create, list, rotate and revoke API keys, and change their limits."""


@key.command("create")
@click.option("--label", required=True, help="Owner or purpose of the key.")
@click.option("--limit", help="Requests in any 60 minutes, or 'unlimited'.  [default: the setting quota.limit]")
@expires_option
@click.pass_context
def create(ctx: click.Context, label: str, limit: str | None, expires: str) -> None:
    """Create a key and print its secret to standard output. The secret is shown only once."""
    context = command_context(ctx, new=True)
    chosen = context.config.quota.limit if limit is None else _limit(limit)
    created, secret = wait_for(context.storage.keys.create(label, limit=chosen, expires_at=expiry(expires)))
    echo(f"Created key {created.id} for {label!r}. Its secret is shown only once:", err=True)
    echo(secret)


@key.command("list")
@listing(
    {
        **{"ID": "id", "LABEL": "label", "ENDS IN": "last_four", "USED": "used"},
        "LIMIT": lambda record: "unlimited" if record["limit"] is None else record["limit"],
        **{"CREATED": "created_at", "EXPIRES": "expires_at", "STATE": "state", "OWNER": "owner"},
        "LAST USED": lambda record: "-" if record["last_used_at"] is None else moment(record["last_used_at"]),
        "FROM": lambda record: " ".join(filter(None, (record["client"], record["network"]))) or "-",
    }
)
@in_context
def list_(context: CommandContext) -> Iterable[Record]:
    """List all keys, oldest first."""
    roster = context.storage.roster
    return (_record(context, key) for key in paged(lambda after: roster.all_keys(after=after, limit=PAGE)))


def _record(context: CommandContext, listed: ListedKey) -> Record:
    key, use = listed.key, listed.use
    left = wait_for(context.storage.quota.peek(key.quota_id, key.limit))
    # A use is written every few minutes, a charge at once. Keys that share a quota have the charges of all of them.
    charged = wait_for(context.storage.quota.last(key.quota_id)) if key.shared is None else None
    times = filter(None, (use.at if use else None, charged))
    return {
        "id": key.id,
        "label": key.label,
        "last_four": key.last_four,
        "used": None if left.limit is None or left.remaining is None else left.limit - left.remaining,
        "limit": key.limit,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "state": key_state(key),
        "owner": listed.email or None,
        "last_used_at": max(times, default=None),
        "network": use.client.network if use else "",
        "client": use.client.name if use else "",
    }


@key.command("revoke")
@click.argument("key_id", metavar="ID")
@in_context
def revoke(context: CommandContext, key_id: str) -> None:
    """Revoke a key. A running server rejects it and ends its streams within a second."""
    wait_for(context.storage.keys.revoke(key_id))
    echo(f"Key {key_id} is revoked.", err=True)


@key.command("limit")
@click.argument("key_id", metavar="ID")
@click.argument("limit")
@in_context
def limit_(context: CommandContext, key_id: str, limit: str) -> None:
    """Change the LIMIT of a key: requests in any 60 minutes, or 'unlimited'. It counts within a second."""
    wait_for(context.storage.keys.set_limit(key_id, _limit(limit, "LIMIT")))
    echo(f"Key {key_id} has the limit {limit}.", err=True)


@key.command("rotate")
@click.argument("key_id", metavar="ID")
@click.option("--grace", help="How long the old secret stays valid (1d, 0m).  [default: the setting keys.grace]")
@in_context
def rotate(context: CommandContext, key_id: str, grace: str | None) -> None:
    """Replace the secret of a key and print the new one, once. Quota and sessions are kept."""
    seconds = context.config.keys.grace if grace is None else duration(grace, "--grace")
    _, secret = wait_for(context.storage.keys.rotate(key_id, grace=seconds))
    echo(f"The new secret of key {key_id} is shown only once:", err=True)
    echo(secret)


def _limit(text: str, hint: str = "--limit") -> int | None:
    if text == "unlimited":
        return None
    if not (re.fullmatch(r"[0-9]{1,10}", text) and 1 <= int(text) <= MAX_LIMIT):
        raise click.BadParameter(f"must be a whole number from 1 to {MAX_LIMIT:,}, or 'unlimited'", param_hint=hint)
    return int(text)


def key_state(key: ApiKey) -> str:
    """Return whether a key is valid, expired or revoked."""
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.has_expired(time.time()) else "valid"
