"""Pages for the API keys of a member."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from math import ceil

from attrs import frozen

from ...domain.errors import BadInput, DirectoryError
from ...domain.throttling import Limiter
from ...http import Request
from ...services.user_keys import UserKeys
from ..audit import Values, changing
from ..mcp import PATH
from ..pages import KeyPartValues
from ._connect_page import ConnectPage
from ._limits import DAY, pending_limits
from ._requests import KEYS, AccountRequests, Member

EXPIRIES = {"never": None, "30": 30 * DAY, "90": 90 * DAY, "365": 365 * DAY}
"""Lifetimes of a new key in seconds, by the value of the form field; None for no expiry."""


ReadKeyParts = Callable[[Sequence[str]], Awaitable[KeyPartValues]]
"""Reads what features show of the keys with these ids."""


@frozen
class KeyPages:
    """Handles the pages of a member's keys; `_changes` limits how often a member creates, rotates and renames keys."""

    _requests: AccountRequests
    _keys: UserKeys
    _connect: ConnectPage
    _changes: Limiter
    _now: Callable[[], float]
    _read_parts: ReadKeyParts

    async def get(self, request: Request) -> bytes:
        """Return the list of keys and the form that creates a key."""
        member = await self._requests.member(request)
        return self._requests.page(request, member.session, "keys", await self._list(member))

    async def get_account(self, request: Request) -> bytes:
        """Redirect to the list of keys, the first page of an account."""
        await self._requests.member(request)
        return self._requests.redirect(request, KEYS)

    async def post(self, request: Request) -> bytes:
        """Create a key, and redirect to the page that shows its secret."""
        member, form = await self._requests.member_form(request)
        label, expiry = form.get("label", ""), form.get("expires", "never")
        try:
            self._changes.charge(member.account.id)
            session = member.session.identifier
            key = await self._keys.create(member.account, session, label, self._expires_at(expiry))
            if request.audit is not None:
                request.audit.set_values({}, {"id": key.id, "label": key.label, "expires": expiry, "limit": key.limit})
        except DirectoryError:
            return self._requests.form_error(request, KEYS, label=label, expires=expiry)
        return self._requests.redirect(request, _path(key.id, "secret"))

    async def rotate(self, request: Request, key_id: str) -> bytes:
        """Rotate the secret of a key, and redirect to the page that shows the new secret."""
        member, _ = await self._requests.member_form(request)
        try:
            self._changes.charge(member.account.id)
            key = await self._keys.rotate(member.account, member.session.identifier, key_id)
        except DirectoryError:
            return self._requests.form_error(request, KEYS)
        return self._requests.redirect(request, _path(key.id, "secret"))

    async def get_rotate(self, request: Request, key_id: str) -> bytes:
        """Redirect to the list of keys."""
        await self._requests.member(request)
        return self._requests.redirect(request, KEYS)

    async def secret(self, request: Request, key_id: str) -> bytes:
        """Return the new secret once, to the session that created it; afterwards a page with status 410."""
        member = await self._requests.member(request)
        key = await self._keys.find(member.account, key_id)
        # HEAD has no body, so it must not consume the secret.
        new = None if request.method == b"HEAD" else await self._keys.read_secret(member.session.identifier, key)
        if new is None:
            status = 200 if request.method == b"HEAD" else 410
            return self._requests.page(request, member.session, "secret_shown", {"key": key}, status)
        values = {
            "key": key,
            "secret": new.secret,
            "rotated": new.rotated,
            "grace": ceil(self._keys.grace),
            "setups": self._connect.setups(request),
            "keyed": self._connect.setups(request, new.secret),
            "endpoint": PATH.decode(),
        }
        return self._requests.page(request, member.session, "key", values)

    async def get_rename(self, request: Request, key_id: str) -> bytes:
        """Return the form that changes the label of a key."""
        member = await self._requests.member(request)
        key = await self._keys.find(member.account, key_id)
        return self._requests.page(request, member.session, "rename", {"key": key, "label": key.label})

    async def rename(self, request: Request, key_id: str) -> bytes:
        """Change the label of a key, and redirect to the list of keys."""
        member, form = await self._requests.member_form(request)
        label = form.get("label", "")
        try:
            # Each change of a key empties the look-up caches of all processes.
            self._changes.charge(member.account.id)
            async with changing(request, lambda: self._state(member, key_id)):
                await self._keys.rename(member.account, key_id, label)
        except BadInput:
            return self._requests.form_error(request, _path(key_id, "rename"), label=label)
        except DirectoryError:
            return self._requests.form_error(request, KEYS)
        return self._requests.redirect(request, KEYS, "key_renamed")

    async def confirm_revoke(self, request: Request, key_id: str) -> bytes:
        """Return the page that asks to confirm the revocation of a key."""
        member = await self._requests.member(request)
        key = await self._keys.find(member.account, key_id)
        return self._requests.page(request, member.session, "revoke", {"key": key})

    async def revoke(self, request: Request, key_id: str) -> bytes:
        """Revoke a key and redirect to the list of keys."""
        member, _ = await self._requests.member_form(request)
        try:
            await self._keys.revoke(member.account, key_id)
        except DirectoryError:
            return self._requests.form_error(request, KEYS)
        return self._requests.redirect(request, KEYS, "key_revoked")

    async def _state(self, member: Member, key_id: str) -> Values:
        """Return the values of a key for the audit log."""
        key = await self._keys.find(member.account, key_id)
        return {"label": key.label, "limit": key.limit}

    async def _list(self, member: Member) -> dict[str, object]:
        owned, now = await self._keys.list(member.account), self._now()
        return {
            "keys": owned.keys,
            "key_parts": await self._read_parts([usage.key.id for usage in owned.keys]),
            "now": now,
            "label": "",
            "is_full": owned.is_full,
            "max_keys": owned.most,
            "free_at": owned.free_at,
            "expires": "never",
            "expiries": list(EXPIRIES),
            "pending": not member.account.approved,
            **pending_limits(self._keys),
        }

    def _expires_at(self, expiry: str) -> float | None:
        if expiry not in EXPIRIES:
            raise BadInput(f"expires must be one of {', '.join(EXPIRIES)}.", code="form_wrong")
        lifetime = EXPIRIES[expiry]
        return None if lifetime is None else self._now() + lifetime


def _path(key_id: str, page: str) -> str:
    return f"{KEYS}/{key_id}/{page}"
