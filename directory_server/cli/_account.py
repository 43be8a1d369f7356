"""`directory-server account`: accounts that create their own API keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from .. import sqlite
from ..config import Config
from ..domain.accounts import Account
from ..domain.errors import BadInput, NotFound
from ..domain.keys import ApiKey
from ..run_sync import run_sync
from ._context import command_context
from ._durations import duration
from ._output import echo
from .quickstart import public_url

_EMAIL = click.argument("email")


@click.group()
def account() -> None:
    """Invite, approve, list, disable and enable accounts. Accounts create their own API keys."""


@account.command()
@_EMAIL
@click.pass_context
def add(ctx: click.Context, email: str) -> None:
    """Create an account for EMAIL and print a one-time link to set its password."""
    accounts = _accounts(ctx, new=True)
    _print_link(ctx, accounts, run_sync(accounts.add(email)))


@account.command()
@_EMAIL
@click.option("--revoke-keys", is_flag=True, help="Revoke all keys and end the password and all sessions now.")
@click.pass_context
def reset(ctx: click.Context, email: str, revoke_keys: bool) -> None:
    """Print a new one-time link to set the password of EMAIL.

    The keys stay valid, and so does the old password until the link is used. If a key or the password may be known to
    somebody else, use --revoke-keys.
    """
    context = command_context(ctx)
    accounts, keys = context.accounts, context.keys
    found = _found(accounts, email)
    if found.disabled_at is not None:
        raise BadInput("The account is disabled. Enable it first.")
    if revoke_keys:
        # The sessions first: with one of them a stranger could create keys meanwhile.
        run_sync(accounts.forget_password(found.id))
    working = _working(keys, found)
    if revoke_keys:
        for each in working:
            run_sync(keys.revoke(each.id))
        echo(f"{_keys(len(working))} of {found.email} revoked; password and sessions ended.", err=True)
    elif working:
        echo(
            f"{_keys(len(working))} of {found.email} can still be used. "
            f"To revoke them: account reset {found.email} --revoke-keys",
            err=True,
        )
    _print_link(ctx, accounts, found)


@account.command("list")
@click.pass_context
def list_(ctx: click.Context) -> None:
    """List all accounts, oldest first."""
    context = command_context(ctx)
    keys = run_sync(context.keys.list())
    owned = Counter(key.owner for key in keys if key.revoked_at is None)
    rows = [("EMAIL", "STATE", "KEYS", "CREATED")]
    for each in run_sync(context.accounts.list()):
        created = datetime.fromtimestamp(each.created_at, UTC).strftime("%Y-%m-%d %H:%M")
        rows.append((each.email, _state(each), str(owned[each.id]), created))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


@account.command()
@_EMAIL
@click.pass_context
def disable(ctx: click.Context, email: str) -> None:
    """Disable the account EMAIL: its sessions end, and sign-in and its keys are rejected within a second."""
    accounts = _accounts(ctx)
    run_sync(accounts.disable(_found(accounts, email).id))
    echo(f"The account {email} is disabled.", err=True)


@account.command()
@_EMAIL
@click.pass_context
def enable(ctx: click.Context, email: str) -> None:
    """Enable the account EMAIL: sign-in and its keys work again."""
    accounts = _accounts(ctx)
    run_sync(accounts.enable(_found(accounts, email).id))
    echo(f"The account {email} is enabled.", err=True)


@account.command()
@_EMAIL
@click.pass_context
def approve(ctx: click.Context, email: str) -> None:
    """Approve the registered account EMAIL: each key gets its own quota, and the account is not deleted."""
    accounts = _accounts(ctx)
    found = _found(accounts, email)
    run_sync(accounts.approve(found.id))
    echo(f"The account {found.email} is approved.", err=True)


def _accounts(ctx: click.Context, *, new: bool = False) -> sqlite.SqliteAccounts:
    return command_context(ctx, new=new).accounts


def _found(accounts: sqlite.SqliteAccounts, email: str) -> Account:
    found = run_sync(accounts.find(email))
    if found is None:
        raise NotFound(f"There is no account with the e-mail address {email!r}.")
    return found


def _working(keys: sqlite.SqliteKeyRing, owner: Account) -> Sequence[ApiKey]:
    """Return the keys of an account that are neither revoked nor expired."""
    owned = run_sync(keys.list(owner.id))
    live = run_sync(keys.live([key.id for key in owned]))
    return [key for key in owned if key.id in live]


def _keys(count: int) -> str:
    return "1 key" if count == 1 else f"{count} keys"


def _print_link(ctx: click.Context, accounts: sqlite.SqliteAccounts, found: Account) -> None:
    config: Config = ctx.find_object(Config)  # type: ignore[assignment]
    lifetime = config.accounts.link
    token = run_sync(accounts.link(found.id, lifetime=lifetime))
    echo(f"For {found.email}, to be used once, within {duration(lifetime)}:", err=True)
    echo(f"{public_url(config.web.url, config.listen)}/account/invitation/{token}")


def _state(found: Account) -> str:
    if found.disabled_at is not None:
        return "disabled"
    if not found.approved:
        return "pending"
    return "active" if found.active else "invited"
