"""Operator pages for API keys: search, change the limit, revoke."""

from __future__ import annotations

from attrs import frozen

from ...domain.errors import BadInput, DirectoryError, NotFound
from ...domain.keys import MAX_LIMIT, limit_of
from ...domain.roster import ListedKey
from ...http import Request
from ...web.account import Next, Sent, form, page
from ...web.audit import Values, changing
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of
from ...web.pages import read_key_parts
from ...web.parts import Kernel

KEYS = f"{ADMIN}/keys"
KEY = f"{KEYS}/{{key_id}}"

UNLIMITED = "unlimited"


@frozen
class KeyPages:
    """Handles the list of keys, the page of a key, and its forms."""

    _requests: OperatorRequests
    _kernel: Kernel

    @page("keys")
    async def get(self, sent: Sent) -> Values:
        """Return a page of the keys whose label, owner or id has the text `q`."""
        text = sent.fields.get("q", "")
        found = await self._kernel.storage.roster.keys(text, after=sent.fields.get("after", ""), limit=PER_PAGE + 1)
        rows = page_of(found)
        return {
            "rows": rows,
            "now": self._kernel.now(),
            "text": text,
            "next_url": next_url(KEYS, found, rows[-1].key.id if rows else "", q=text),
        }

    @page("key")
    async def get_one(self, sent: Sent, key_id: str) -> Values:
        """Return the page of a key with the form of its limit."""
        listed, now = await self._find(key_id), self._kernel.now()
        key, storage = listed.key, self._kernel.storage
        allowance = await storage.quota.peek(key.quota_id, key.limit)
        return {
            "row": listed,
            "now": now,
            "allowance": allowance,
            "minutes": allowance.window // 60,
            "last_used": await storage.quota.last(key.quota_id),
            "is_shared": key.shared is not None,
            "limit": UNLIMITED if key.limit is None else str(key.limit),
            "max_limit": MAX_LIMIT,
            "is_own": key.owner == sent.member.account.id,
            "key_parts": await read_key_parts(self._kernel.key_parts, storage, now, [key.id]),
        }

    async def set_limit(self, request: Request, key_id: str) -> bytes:
        """Change the limit of a key, except of the operator's own account, and redirect to its page."""
        member, fields = await self._requests.member_form(request)
        text = fields.get("limit", "")
        try:
            listed = await self._find(key_id)
            if listed.key.owner == member.account.id:
                # A stolen session could create a key, raise its limit, and use it after the session has ended.
                raise BadInput("You cannot change the limit of a key of your own account.", code="own_key")
            async with changing(request, lambda: self._state(key_id)):
                await self._kernel.storage.keys.set_limit(
                    listed.key.id, None if text.strip() == UNLIMITED else limit_of(text)
                )
        except BadInput:
            return self._requests.form_error(request, f"{KEYS}/{key_id}", limit=text)
        except DirectoryError:
            return self._requests.form_error(request, KEYS)
        return self._requests.redirect(request, f"{KEYS}/{key_id}", "limit_changed")

    @page("revoke")
    async def get_revoke(self, sent: Sent, key_id: str) -> Values:
        """Return the page that asks to confirm the revocation of a key."""
        return {"row": await self._find(key_id)}

    @form(KEYS)
    async def revoke(self, sent: Sent, key_id: str) -> Next:
        """Revoke a key, and go to the list of keys."""
        async with changing(sent.request, lambda: self._state(key_id)):
            await self._kernel.storage.keys.revoke((await self._find(key_id)).key.id)
        return Next(KEYS, "key_revoked")

    async def _find(self, key_id: str) -> ListedKey:
        listed: ListedKey | None = await self._kernel.storage.roster.key(key_id)
        if listed is None:
            raise NotFound(f"No key has the id {key_id[:20]!r}.")
        return listed

    async def _state(self, key_id: str) -> Values:
        """Return the values of a key for the audit log."""
        listed = await self._kernel.storage.roster.key(key_id)
        if listed is None:
            return {}
        key = listed.key
        return {"label": key.label, "owner": key.owner, "limit": key.limit, "revoked": key.revoked_at is not None}
