"""`directory-server account`: who may have keys of their own."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime

import click

from .. import embedded
from ..config import Config
from ..embedded import finished
from ..errors import NotFound
from ..model import Account
from ..quickstart import base_url
from ._here import opened

_EMAIL = click.argument("email")


@click.group()
def account() -> None:
    """Invite people to make keys of their own, approve those who registered, list them, and keep them out."""


@account.command()
@_EMAIL
@click.pass_context
def add(ctx: click.Context, email: str) -> None:
    """Make an account for EMAIL and print the link, good once, with which its owner sets a password."""
    accounts = _accounts(ctx, new=True)
    _print_link(ctx, accounts, finished(accounts.add(email)))


@account.command()
@_EMAIL
@click.pass_context
def reset(ctx: click.Context, email: str) -> None:
    """Print a new link, good once, for somebody who has forgotten the password, or lost the first link."""
    accounts = _accounts(ctx)
    _print_link(ctx, accounts, _found(accounts, email))


@account.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List all accounts, oldest first."""
    _, data = opened(ctx, new=False)
    keys = finished(embedded.SqliteKeyRing(data.directory, time.time).list())
    owned = Counter(key.owner for key in keys if key.revoked_at is None)
    rows = [("EMAIL", "STATE", "KEYS", "CREATED")]
    for each in finished(embedded.SqliteAccounts(data.directory, time.time).list()):
        created = datetime.fromtimestamp(each.created_at, UTC).strftime("%Y-%m-%d %H:%M")
        rows.append((each.email, _state(each), str(owned[each.id]), created))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@account.command()
@_EMAIL
@click.pass_context
def disable(ctx: click.Context, email: str) -> None:
    """Sign EMAIL out, let it not sign in, and let its keys not open, within a second."""
    accounts = _accounts(ctx)
    finished(accounts.disable(_found(accounts, email).id))
    click.echo(f"The account {email} is disabled.", err=True)


@account.command()
@_EMAIL
@click.pass_context
def enable(ctx: click.Context, email: str) -> None:
    """Let EMAIL sign in again, and its keys open."""
    accounts = _accounts(ctx)
    finished(accounts.enable(_found(accounts, email).id))
    click.echo(f"The account {email} is enabled.", err=True)


@account.command()
@_EMAIL
@click.pass_context
def approve(ctx: click.Context, email: str) -> None:
    """Approve EMAIL, who registered: each key has a quota of its own, and the account is kept."""
    accounts = _accounts(ctx)
    found = _found(accounts, email)
    finished(accounts.approve(found.id))
    click.echo(f"The account {found.email} is approved.", err=True)


def _accounts(ctx: click.Context, *, new: bool = False) -> embedded.SqliteAccounts:
    _, data = opened(ctx, new=new)
    return embedded.SqliteAccounts(data.directory, time.time)


def _found(accounts: embedded.SqliteAccounts, email: str) -> Account:
    found = finished(accounts.find(email))
    if found is None:
        raise NotFound(f"No account has the address {email!r}.")
    return found


def _print_link(ctx: click.Context, accounts: embedded.SqliteAccounts, found: Account) -> None:
    config: Config = ctx.find_object(Config)  # type: ignore[assignment]
    lifetime = config.accounts.link
    token = finished(accounts.link(found.id, lifetime=lifetime))
    base = config.web.url.rstrip("/") or base_url(config.listen)
    click.echo(f"For {found.email}, to be used once, within {lifetime / 3600:g} hours:", err=True)
    click.echo(f"{base}/account/invitation/{token}")


def _state(found: Account) -> str:
    if found.disabled_at is not None:
        return "disabled"
    if not found.approved:
        return "pending"
    return "active" if found.active else "invited"
