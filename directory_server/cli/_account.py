"""`directory-server account`: accounts that create their own API keys."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

import click

from ..domain.accounts import ROLES, Account, Role, disabled_account
from ..domain.errors import NotFound
from ..domain.keys import MAX_LIMIT, ApiKey
from ..tables import StoredAccounts, StoredKeyRing
from ..wording import counted
from .context import PAGE, CommandContext, command_context, in_context, paged, wait_for
from .output import Group, Record, duration, echo, listing

_EMAIL = click.argument("email")
_ARTICLES: Mapping[Role, str] = {"member": "a", "operator": "an", "auditor": "an"}


@click.group(cls=Group)
def account() -> None:
    """Invite, approve, list, disable, enable and delete accounts; set their roles. Accounts create their own keys."""


@account.command()
@_EMAIL
@click.option(
    "--role",
    type=click.Choice(ROLES),
    default="member",
    help="Operators use /admin, auditors read it.",
)
@click.pass_context
def add(ctx: click.Context, email: str, role: Role) -> None:
    """Create an account for EMAIL and print a one-time link to set its password."""
    context = command_context(ctx, new=True)
    accounts = context.storage.accounts
    created = wait_for(accounts.add(email))
    if role != "member":
        wait_for(accounts.set_role(created.id, role))
    _print_link(context, created)


@account.command()
@_EMAIL
@click.option("--revoke-keys", is_flag=True, help="Revoke all keys and end the password and all sessions now.")
@in_context
def reset(context: CommandContext, email: str, revoke_keys: bool) -> None:
    """Print a new one-time link to set the password of EMAIL.

    The keys stay valid, and so does the old password until the link is used. If a key or the password may be known to
    somebody else, use --revoke-keys.
    """
    account = _find(context.storage.accounts, email)
    if account.disabled_at is not None:
        raise disabled_account()
    if revoke_keys:
        # Sessions end first: an attacker with a session could create keys in between.
        wait_for(context.storage.accounts.set_password(account.id, None))
    keys = _valid_keys(context.storage.keys, account)
    if revoke_keys:
        for key in keys:
            wait_for(context.storage.keys.revoke(key.id))
        echo(f"{counted(len(keys), 'key')} of {account.email} revoked; password and sessions ended.", err=True)
    elif keys:
        echo(
            f"{counted(len(keys), 'key')} of {account.email} can still be used. "
            f"To revoke them: account reset {account.email} --revoke-keys",
            err=True,
        )
    _print_link(context, account)


@account.command("list")
@listing({"EMAIL": "email", "STATE": "state", "KEYS": "keys", "CREATED": "created_at", "ROLE": "role"})
@in_context
def list_(context: CommandContext) -> Iterable[Record]:
    """List all accounts, oldest first."""
    roster = context.storage.roster
    return (
        {
            "email": listed.account.email,
            "role": listed.account.role,
            "state": listed.account.state,
            "keys": listed.keys,
            "created_at": listed.account.created_at,
        }
        for listed in paged(lambda after: roster.all_accounts(after=after, limit=PAGE))
    )


@account.command()
@_EMAIL
@in_context
def disable(context: CommandContext, email: str) -> None:
    """Disable the account EMAIL: its sessions end, and sign-in and its keys are rejected within a second."""
    _change(context, email, lambda accounts, account: accounts.disable(account), "disabled")


@account.command()
@_EMAIL
@in_context
def enable(context: CommandContext, email: str) -> None:
    """Enable the account EMAIL: sign-in and its keys work again."""
    _change(context, email, lambda accounts, account: accounts.enable(account), "enabled")


@account.command()
@_EMAIL
@in_context
def approve(context: CommandContext, email: str) -> None:
    """Approve the registered account EMAIL: each key gets its own quota, and the account is not deleted."""
    _change(context, email, lambda accounts, account: accounts.approve(account), "approved")


@account.command()
@_EMAIL
@click.argument("role", type=click.Choice(ROLES))
@in_context
def role(context: CommandContext, email: str, role: Role) -> None:
    """Make the account EMAIL an operator, who may use the pages at /admin, or a member again.

    An auditor reads these pages and all entries, and changes nothing. It counts from the next request.
    """
    _change(context, email, lambda accounts, account: accounts.set_role(account, role), f"{_ARTICLES[role]} {role}")


@account.command()
@_EMAIL
@click.argument("issuer")
@in_context
def link(context: CommandContext, email: str, issuer: str) -> None:
    """Let one more person sign in to the account EMAIL: the next with this address at ISSUER, a URL of the settings.

    An address alone links to an account only if no other person signs in to it.
    """
    state = f"linked to the next person of {issuer} with this address"
    _change(context, email, lambda accounts, account: accounts.link_issuer(account, issuer), state)


@account.command()
@_EMAIL
@click.argument("limit", type=click.IntRange(1, MAX_LIMIT))
@in_context
def limit(context: CommandContext, email: str, limit: int) -> None:
    """Set the limit of all keys of the account EMAIL, and of its new ones, to LIMIT requests in any 60 minutes."""
    state = f"limited to {limit:,} requests per key"
    _change(context, email, lambda accounts, account: accounts.set_limit(account, limit), state)


@account.command()
@_EMAIL
@click.confirmation_option(prompt="Delete the account and all its keys? This cannot be undone.")
@in_context
def delete(context: CommandContext, email: str) -> None:
    """Delete the account EMAIL with its sessions and keys: its keys are rejected within a second."""
    storage = context.storage
    account = _find(storage.accounts, email)
    keys = _valid_keys(storage.keys, account)
    wait_for(storage.accounts.delete(account.id))
    echo(f"The account {account.email} is deleted; {counted(len(keys), 'key')} revoked.", err=True)


_Action = Callable[[StoredAccounts, str], Coroutine[Any, Any, None]]


def _change(context: CommandContext, email: str, action: _Action, state: str) -> None:
    """Call `action` with the id of the account `email` and print its new state."""
    accounts = context.storage.accounts
    account = _find(accounts, email)
    wait_for(action(accounts, account.id))
    echo(f"The account {account.email} is {state}.", err=True)


def _find(accounts: StoredAccounts, email: str) -> Account:
    account = wait_for(accounts.find(email))
    if account is None:
        raise NotFound(f"There is no account with the e-mail address {email!r}.")
    return account


def _valid_keys(keys: StoredKeyRing, owner: Account) -> Sequence[ApiKey]:
    """Return the keys of an account that are neither revoked nor expired."""
    owned = wait_for(keys.list(owner.id))
    live = wait_for(keys.live([key.id for key in owned]))
    return [key for key in owned if key.id in live]


def _print_link(context: CommandContext, account: Account) -> None:
    link = wait_for(create_link(context, account))
    echo(f"One-time link for {account.email}, valid for {duration(context.config.accounts.link)}:", err=True)
    echo(link)


async def create_link(context: CommandContext, account: Account) -> str:
    """Return the URL of a new single-use link that sets the password of `account` and signs in."""
    token = await context.storage.accounts.link(account.id, lifetime=context.config.accounts.link)
    return f"{context.public_url}/account/invitation/{token}"
