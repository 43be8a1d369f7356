"""Accounts for operators: the declaration of their pages and of `directory-server account`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...domain.accounts import ROLES, Role, disabled_account, normalized_email
from ...domain.errors import BadInput, NotFound
from ...domain.keys import ApiKey, limit_of
from ...domain.roster import ListedAccount
from ...resource import Action, Asked, Done, Facts, Field, Parts, Place, Resource
from ...services.accounts import invitation
from ...texts.wording import counted, duration

if TYPE_CHECKING:
    from ...feature.server import Server

MAX_KEYS = 50
"""The most keys on the page of an account. The list of keys has all of them."""

_ARTICLES: Mapping[Role, str] = {"member": "a", "operator": "an", "auditor": "an"}

_EMAIL = Field("email", kind="email", longest=254, is_required=True, is_argument=True)

_LIMIT = Field("limit", "Requests in any 60 minutes.", longest=12, is_required=True, is_argument=True)


async def _add(parts: Parts, email: str, role: Role) -> Done:
    accounts = parts.storage.people.accounts
    account = await accounts.add(email)
    if role != "member":
        await accounts.set_role(account.id, role)
    return await _linked(parts, account.id, account.email)


async def _linked(parts: Parts, account_id: str, email: str, before: str = "") -> Done:
    """Return a new one-time link that sets the password of an account and signs in."""
    lifetime = parts.config.accounts.link
    link = await invitation(parts.storage.people.accounts, account_id, lifetime, parts.url())
    line = f"{before}One-time link for {email}, valid for {duration(lifetime)}:"
    return Done(account_id, secret=link, line=line)


async def _link(parts: Parts, account_id: str) -> Done:
    account = (await _find(parts, account_id)).account
    if account.is_operator:
        # An operator cannot take over another one's account.
        raise BadInput("Only the command line creates links for operators.", code="operator_link")
    return await _linked(parts, account_id, account.email)


async def _reset(parts: Parts, account_id: str, revoke_keys: bool) -> Done:
    storage, account = parts.storage, (await _find(parts, account_id)).account
    if account.disabled_at is not None:
        raise disabled_account()
    if revoke_keys:
        # Sessions end first: an attacker with a session could create keys in between.
        await storage.people.accounts.set_password(account.id, None)
    keys, before = await _valid_keys(parts, account_id), ""
    if revoke_keys:
        for key in keys:
            await storage.people.keys.revoke(key.id)
        before = f"{counted(len(keys), 'key')} of {account.email} revoked; password and sessions ended.\n"
    elif keys:
        command = f"account reset {account.email} --revoke-keys"
        before = f"{counted(len(keys), 'key')} of {account.email} can still be used. To revoke them: {command}\n"
    return await _linked(parts, account_id, account.email, before)


async def _valid_keys(parts: Parts, account_id: str) -> Sequence[ApiKey]:
    """Return the keys of an account that are neither revoked nor expired."""
    owned = await parts.storage.people.keys.list(account_id)
    live = await parts.storage.people.keys.live([key.id for key in owned])
    return [key for key in owned if key.id in live]


async def _delete(parts: Parts, account_id: str) -> Done:
    listed, keys = await _find(parts, account_id), await _valid_keys(parts, account_id)
    await parts.storage.people.accounts.delete(account_id)
    return Done(line=f"The account {listed.account.email} is deleted; {counted(len(keys), 'key')} revoked.")


async def _set_limit(parts: Parts, account_id: str, limit: str) -> Done:
    if parts.is_own(account_id):
        raise BadInput("You cannot change the limit of your own account.", code="own_limit")
    email = (await _find(parts, account_id)).account.email
    await parts.storage.people.accounts.set_limit(account_id, requests := limit_of(limit))
    return Done(line=f"The account {email} is limited to {requests:,} requests per key.")


async def _set_role(parts: Parts, account_id: str, role: Role) -> Done:
    account = (await _find(parts, account_id)).account
    if parts.account is not None and account.is_operator:
        raise BadInput("Only the command line ends the role of an operator.", code="operator_role")
    await parts.storage.people.accounts.set_role(account_id, role)
    return Done(line=f"The account {account.email} is {_ARTICLES[role]} {role}.")


async def _link_issuer(parts: Parts, account_id: str, issuer: str) -> Done:
    email = (await _find(parts, account_id)).account.email
    await parts.storage.people.accounts.link_issuer(account_id, issuer)
    return Done(line=f"The account {email} is linked to the next person of {issuer} with this address.")


async def _disable(parts: Parts, account_id: str) -> None:
    if parts.is_own(account_id):
        raise BadInput("You cannot disable your own account.", code="own_account")
    await parts.storage.people.accounts.disable(account_id)


async def _approve(parts: Parts, account_id: str) -> None:
    await parts.storage.people.accounts.approve(account_id)
    if parts.mail is not None:
        parts.mail((await _find(parts, account_id)).account.email, "Your account was approved", "/account/keys")


async def _list(parts: Parts, asked: Asked) -> Sequence[ListedAccount]:
    return await parts.storage.people.roster.accounts(asked.text, after=asked.after, limit=asked.limit)


async def _find(parts: Parts, name: str) -> ListedAccount:
    account = await parts.storage.people.accounts.find(normalized_email(name)) if "@" in name else None
    listed = await parts.storage.people.roster.account(account.id if account else name)
    if listed is None:
        what = "the e-mail address" if "@" in name else "the id"
        raise NotFound(f"There is no account with {what} {name[:300]!r}.")
    return listed


def _facts(parts: Parts, listed: ListedAccount) -> Facts:
    account = listed.account
    return {
        "id": account.id,
        "email": account.email,
        "state": account.state,
        "role": account.role,
        "keys": listed.keys,
        "limit": account.key_limit(parts.config.quota.limit),
        "created_at": account.created_at,
    }


async def _keys(server: Server, listed: ListedAccount) -> Mapping[str, object]:
    keys = await server.storage.people.roster.keys(owner=listed.account.id, limit=MAX_KEYS)
    return {"keys": keys, "count": listed.keys, "now": server.now()}


def _is(*states: str) -> Callable[[Parts, Facts], bool]:
    return lambda parts, facts: facts["state"] in states


def _role(place: Place, *roles: Role) -> Action:
    return Action(
        "role",
        "Make the account EMAIL an operator, who may use the pages at /admin, or a member again. "
        "An auditor reads these pages and all entries, and changes nothing. It counts from the next request.",
        _set_role,
        fields=(Field("role", kind="choice", choices=roles, is_required=True, is_argument=True),),
        allows=lambda parts, facts: facts["role"] != "operator" and facts["state"] != "pending",
        values=lambda parts, facts: {"role": facts["role"]},
        place=place,
    )


ACCOUNTS = Resource(
    name="accounts",
    command="account",
    noun="account",
    group="access",
    about="Invite, approve, list, disable, enable and delete accounts; set their roles. "
    "Accounts create their own keys.",
    texts="operators.account",
    list=_list,
    every=lambda parts, after, limit: parts.storage.people.roster.all_accounts(after=after, limit=limit),
    find=_find,
    facts=_facts,
    columns=("email", "state", "keys", "created_at", "role"),
    nothing={"limit": "unlimited"},
    is_named=True,
    searches=True,
    has_secret=True,
    template="operators/_account_keys.html",
    extra=_keys,
    add=Action(
        "add",
        "Create an account for EMAIL and print a one-time link to set its password.",
        _add,
        fields=(
            _EMAIL,
            Field("role", "Operators use /admin, auditors read it.", choices=ROLES, default="member", place="command"),
        ),
    ),
    actions=(
        Action(
            "approve",
            "Approve the registered account EMAIL: each key gets its own quota, and the account is not deleted.",
            _approve,
            done="is approved",
            allows=_is("pending"),
        ),
        Action(
            "link",
            "Create a one-time link to set the password.",
            _link,
            allows=lambda parts, facts: facts["role"] != "operator" and facts["state"] != "disabled",
            place="page",
        ),
        Action(
            "reset",
            "Print a new one-time link to set the password of EMAIL. "
            "The keys stay valid, and so does the old password until the link is used. If a key or the password may be "
            "known to somebody else, use --revoke-keys.",
            _reset,
            fields=(Field("revoke_keys", "Revoke all keys and end the password and all sessions now.", kind="flag"),),
            place="command",
        ),
        Action(
            "enable",
            "Enable the account EMAIL: sign-in and its keys work again.",
            lambda parts, account_id: parts.storage.people.accounts.enable(account_id),
            done="is enabled",
            allows=_is("disabled"),
        ),
        Action(
            "disable",
            "Disable the account EMAIL: its sessions end, and sign-in and its keys are rejected within a second.",
            _disable,
            done="is disabled",
            confirms=True,
            allows=lambda parts, facts: facts["state"] != "disabled" and not parts.is_own(facts["id"]),
        ),
        Action(
            "limit",
            "Set the limit of all keys of the account EMAIL, and of its new ones, to LIMIT requests in any 60 minutes.",
            _set_limit,
            fields=(_LIMIT,),
            allows=lambda parts, facts: not parts.is_own(facts["id"]),
            values=lambda parts, facts: {"limit": "" if facts["limit"] is None else str(facts["limit"])},
        ),
        _role("page", "member", "auditor"),
        _role("command", *ROLES),
        Action(
            "link",
            "Let one more person sign in to the account EMAIL: the next with this address at ISSUER, a URL of the "
            "settings. An address alone links to an account only if no other person signs in to it.",
            _link_issuer,
            fields=(Field("issuer", is_required=True, is_argument=True),),
            place="command",
        ),
        Action(
            "delete",
            "Delete the account EMAIL with its sessions and keys: its keys are rejected within a second.",
            _delete,
            prompt="Delete the account and all its keys? This cannot be undone.",
            place="command",
        ),
    ),
)
