"""Operator pages for accounts: invite, search, approve, disable, enable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import frozen

from ...domain.accounts import Role
from ...domain.errors import BadInput, DirectoryError, NotFound
from ...domain.keys import limit_of
from ...domain.quota import WINDOW
from ...domain.roster import MAX_COUNTED, ListedAccount
from ...http import Request
from ...web.account import Next, Sent, form, page
from ...web.audit import Values, changing
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of
from ...web.parts import Kernel

ACCOUNTS = f"{ADMIN}/accounts"
ACCOUNT = f"{ACCOUNTS}/{{account_id}}"

MAX_KEYS = 50
"""The most keys on the page of an account. The list of keys has all of them."""


@frozen
class AccountPages:
    """Handles the list of accounts, the page of an account, and its forms."""

    _requests: OperatorRequests
    _kernel: Kernel

    @page("accounts")
    async def get(self, sent: Sent) -> Values:
        """Return a page of the accounts whose address has the text `q`."""
        text, is_pending = sent.fields.get("q", ""), sent.fields.get("state") == "pending"
        after = sent.fields.get("after", "")
        found = await self._kernel.storage.roster.accounts(text, pending=is_pending, after=after, limit=PER_PAGE + 1)
        rows = page_of(found)
        state = "pending" if is_pending else ""
        return {
            "rows": rows,
            "text": text,
            "email": "",
            "is_pending": is_pending,
            "counts": await self._kernel.storage.roster.counts(MAX_COUNTED),
            "most": MAX_COUNTED,
            "next_url": next_url(ACCOUNTS, found, rows[-1].account.id if rows else "", q=text, state=state),
        }

    @form(ACCOUNTS, "email")
    async def invite(self, sent: Sent) -> Next:
        """Create the account of a member, and go to its page."""
        account = await self._kernel.storage.accounts.add(sent.text("email"))
        if sent.request.audit is not None:
            sent.request.audit.set_values({}, await self._state(account.id))
        return Next(f"{ACCOUNTS}/{account.id}", "account_invited")

    async def create_link(self, request: Request, account_id: str) -> bytes:
        """Return the page with a link, shown once, by which a member sets a password and signs in.

        Links of operators are created by the command line only: an operator cannot take over another one's account.
        """
        member, _ = await self._requests.member_form(request)
        try:
            listed = await self._find(account_id)
            if listed.account.is_operator:
                raise BadInput("Only the command line creates links for operators.", code="operator_link")
            lifetime = self._kernel.config.accounts.link
            token = await self._kernel.storage.accounts.link(account_id, lifetime=lifetime)
        except DirectoryError:
            return self._requests.form_error(request, f"{ACCOUNTS}/{account_id}")
        values = {
            "row": listed,
            "link": f"{self._requests.base_url(request)}/account/invitation/{token}",
            "hours": round(lifetime / 3_600),
        }
        return self._requests.page(request, member.session, "link", values)

    @page("account")
    async def get_one(self, sent: Sent, account_id: str) -> Values:
        """Return the page of an account."""
        listed = await self._find(account_id)
        limit = listed.account.key_limit(self._kernel.config.quota.limit)
        return {
            "row": listed,
            "keys": await self._kernel.storage.roster.keys(owner=account_id, limit=MAX_KEYS),
            "now": self._kernel.now(),
            "is_own": sent.member.account.id == account_id,
            "limit": "" if limit is None else str(limit),
            "minutes": WINDOW // 60,
        }

    @form(ACCOUNT)
    async def approve(self, sent: Sent, account_id: str) -> Next:
        """Approve an account, and go to its page."""
        return await self._change(sent, account_id, "account_approved", self._kernel.storage.accounts.approve)

    @form(ACCOUNT, "limit")
    async def set_limit(self, sent: Sent, account_id: str) -> Next:
        """Change the limit of all keys of an account, except the operator's own one, and go to its page."""
        if sent.member.account.id == account_id:
            raise BadInput("You cannot change the limit of your own account.", code="own_limit")
        limit = limit_of(sent.fields.get("limit", ""))
        return await self._change(
            sent, account_id, "account_limit_changed", self._kernel.storage.accounts.set_limit, limit
        )

    @form(ACCOUNT)
    async def set_role(self, sent: Sent, account_id: str) -> Next:
        """Make a member an auditor or an auditor a member, and go to the page of the account.

        Only the command line makes operators, and ends their role.
        """
        role: Role = "auditor" if sent.fields.get("role") == "auditor" else "member"
        if (await self._find(account_id)).account.is_operator:
            raise BadInput("Only the command line ends the role of an operator.", code="operator_role")
        return await self._change(
            sent, account_id, "account_role_changed", self._kernel.storage.accounts.set_role, role
        )

    @page("disable")
    async def get_disable(self, sent: Sent, account_id: str) -> Values:
        """Return the page that asks to confirm that an account is disabled."""
        return {"row": await self._find(account_id)}

    @form(ACCOUNT)
    async def disable(self, sent: Sent, account_id: str) -> Next:
        """Disable an account, except the operator's own one, and go to its page."""
        if sent.member.account.id == account_id:
            raise BadInput("You cannot disable your own account.", code="own_account")
        return await self._change(sent, account_id, "account_disabled", self._kernel.storage.accounts.disable)

    @form(ACCOUNT)
    async def enable(self, sent: Sent, account_id: str) -> Next:
        """Enable an account, and go to its page."""
        return await self._change(sent, account_id, "account_enabled", self._kernel.storage.accounts.enable)

    async def _change(
        self, sent: Sent, account_id: str, notice: str, change: Callable[..., Awaitable[None]], *values: object
    ) -> Next:
        """Return the page of an account after `change(account_id, *values)`, which the audit log shows."""
        async with changing(sent.request, lambda: self._state(account_id)):
            await change(account_id, *values)
        return Next(f"{ACCOUNTS}/{account_id}", notice)

    async def _find(self, account_id: str) -> ListedAccount:
        listed: ListedAccount | None = await self._kernel.storage.roster.account(account_id)
        if listed is None:
            raise NotFound(f"No account has the id {account_id[:20]!r}.")
        return listed

    async def _state(self, account_id: str) -> Values:
        """Return the values of an account for the audit log."""
        listed = await self._kernel.storage.roster.account(account_id)
        if listed is None:
            return {}
        account = listed.account
        return {"email": account.email, "role": account.role, "state": account.state, "limit": account.limit}
