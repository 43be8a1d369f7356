"""Operator pages for accounts: invite, search, approve, disable, enable."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ...domain.accounts import Role
from ...domain.errors import BadInput, DirectoryError, NotFound
from ...domain.keys import limit_of
from ...domain.ports.accounts import Accounts
from ...domain.ports.roster import Roster
from ...domain.quota import WINDOW
from ...domain.roster import MAX_COUNTED, ListedAccount
from ...http import Request
from ...web.account import Member
from ...web.audit import Values, changing
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of, parameters

ACCOUNTS = f"{ADMIN}/accounts"

MAX_KEYS = 50
"""The most keys on the page of an account. The list of keys has all of them."""


@frozen
class AccountPages:
    """Handles the list of accounts, the page of an account, and its forms.

    `_limit` is the limit of new keys of an account without one of its own. A link to set a password is valid for
    `_lifetime` seconds.
    """

    _requests: OperatorRequests
    _accounts: Accounts
    _roster: Roster
    _now: Callable[[], float]
    _limit: int | None
    _lifetime: float

    async def get(self, request: Request) -> bytes:
        """Return a page of the accounts whose address has the text `q`."""
        member = await self._requests.member(request)
        asked = parameters(request)
        text, is_pending = asked.get("q", ""), asked.get("state") == "pending"
        found = await self._roster.accounts(text, pending=is_pending, after=asked.get("after", ""), limit=PER_PAGE + 1)
        rows = page_of(found)
        state = "pending" if is_pending else ""
        values = {
            "rows": rows,
            "text": text,
            "email": "",
            "is_pending": is_pending,
            "counts": await self._roster.counts(MAX_COUNTED),
            "most": MAX_COUNTED,
            "next_url": next_url(ACCOUNTS, found, rows[-1].account.id if rows else "", q=text, state=state),
        }
        return self._requests.page(request, member.session, "accounts", values)

    async def invite(self, request: Request) -> bytes:
        """Create the account of a member, and redirect to its page."""
        _, form = await self._requests.member_form(request)
        email = form.get("email", "").strip()
        try:
            account = await self._accounts.add(email)
        except DirectoryError:
            return self._requests.form_error(request, ACCOUNTS, email=email)
        if request.audit is not None:
            request.audit.set_values({}, await self._state(account.id))
        return self._requests.redirect(request, _path(account.id), "account_invited")

    async def create_link(self, request: Request, account_id: str) -> bytes:
        """Return the page with a link, shown once, by which a member sets a password and signs in.

        Links of operators are created by the command line only: an operator cannot take over another one's account.
        """
        member, _ = await self._requests.member_form(request)
        try:
            listed = await self._find(account_id)
            if listed.account.is_operator:
                raise BadInput("Only the command line creates links for operators.", code="operator_link")
            token = await self._accounts.link(account_id, lifetime=self._lifetime)
        except DirectoryError:
            return self._requests.form_error(request, _path(account_id))
        values = {
            "row": listed,
            "link": f"{self._requests.base_url(request)}/account/invitation/{token}",
            "hours": round(self._lifetime / 3_600),
        }
        return self._requests.page(request, member.session, "link", values)

    async def get_one(self, request: Request, account_id: str) -> bytes:
        """Return the page of an account."""
        member = await self._requests.member(request)
        listed = await self._find(account_id)
        limit = listed.account.key_limit(self._limit)
        keys = await self._roster.keys(owner=account_id, limit=MAX_KEYS)
        values = {
            "row": listed,
            "keys": keys,
            "now": self._now(),
            "is_own": self._is_own(member, account_id),
            "limit": "" if limit is None else str(limit),
            "minutes": WINDOW // 60,
        }
        return self._requests.page(request, member.session, "account", values)

    async def approve(self, request: Request, account_id: str) -> bytes:
        """Approve an account, and redirect to its page."""
        await self._requests.member_form(request)
        try:
            async with changing(request, lambda: self._state(account_id)):
                await self._accounts.approve(account_id)
        except DirectoryError:
            return self._requests.form_error(request, _path(account_id))
        return self._requests.redirect(request, _path(account_id), "account_approved")

    async def set_limit(self, request: Request, account_id: str) -> bytes:
        """Change the limit of all keys of an account, except the operator's own one, and redirect to its page."""
        member, form = await self._requests.member_form(request)
        text = form.get("limit", "")
        try:
            if self._is_own(member, account_id):
                raise BadInput("You cannot change the limit of your own account.", code="own_limit")
            async with changing(request, lambda: self._state(account_id)):
                await self._accounts.set_limit(account_id, limit_of(text))
        except BadInput:
            return self._requests.form_error(request, _path(account_id), limit=text)
        except DirectoryError:
            return self._requests.form_error(request, _path(account_id))
        return self._requests.redirect(request, _path(account_id), "account_limit_changed")

    async def set_role(self, request: Request, account_id: str) -> bytes:
        """Make a member an auditor or an auditor a member, and redirect to the page of the account.

        Only the command line makes operators, and ends their role.
        """
        _, form = await self._requests.member_form(request)
        role: Role = "auditor" if form.get("role") == "auditor" else "member"
        try:
            if (await self._find(account_id)).account.is_operator:
                raise BadInput("Only the command line ends the role of an operator.", code="operator_role")
            async with changing(request, lambda: self._state(account_id)):
                await self._accounts.set_role(account_id, role)
        except DirectoryError:
            return self._requests.form_error(request, _path(account_id))
        return self._requests.redirect(request, _path(account_id), "account_role_changed")

    async def get_disable(self, request: Request, account_id: str) -> bytes:
        """Return the page that asks to confirm that an account is disabled."""
        member = await self._requests.member(request)
        listed = await self._find(account_id)
        return self._requests.page(request, member.session, "disable", {"row": listed})

    async def disable(self, request: Request, account_id: str) -> bytes:
        """Disable an account, except the operator's own one, and redirect to its page."""
        member, _ = await self._requests.member_form(request)
        try:
            if self._is_own(member, account_id):
                raise BadInput("You cannot disable your own account.", code="own_account")
            async with changing(request, lambda: self._state(account_id)):
                await self._accounts.disable(account_id)
        except DirectoryError:
            return self._requests.form_error(request, _path(account_id))
        return self._requests.redirect(request, _path(account_id), "account_disabled")

    async def enable(self, request: Request, account_id: str) -> bytes:
        """Enable an account, and redirect to its page."""
        await self._requests.member_form(request)
        try:
            async with changing(request, lambda: self._state(account_id)):
                await self._accounts.enable(account_id)
        except DirectoryError:
            return self._requests.form_error(request, _path(account_id))
        return self._requests.redirect(request, _path(account_id), "account_enabled")

    async def _find(self, account_id: str) -> ListedAccount:
        listed = await self._roster.account(account_id)
        if listed is None:
            raise NotFound(f"No account has the id {account_id[:20]!r}.")
        return listed

    async def _state(self, account_id: str) -> Values:
        """Return the values of an account for the audit log."""
        listed = await self._roster.account(account_id)
        if listed is None:
            return {}
        account = listed.account
        return {"email": account.email, "role": account.role, "state": account.state, "limit": account.limit}

    def _is_own(self, member: Member, account_id: str) -> bool:
        return member.account.id == account_id


def _path(account_id: str) -> str:
    return f"{ACCOUNTS}/{account_id}"
