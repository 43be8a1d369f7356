"""Pages for the API keys of a member."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from math import ceil

from attrs import frozen

from ...domain.errors import BadInput, DirectoryError, TooManyKeys
from ...domain.throttling import Limiter
from ...http import Request
from ...services.user_keys import KeyUsage, UserKeys
from ..mcp import PATH
from ._connect_page import ConnectPage
from ._limits import DAY, pending_limits
from ._requests import KEYS, AccountRequests, Member, see_other

EXPIRIES = {"never": None, "30": 30 * DAY, "90": 90 * DAY, "365": 365 * DAY}
"""Lifetimes of a new key in seconds, by the value of the form field; None for no expiry."""


@frozen
class KeyRow:
    """A key in the list. Times are UTC, "" for never; `next_request` is minutes until one more request is allowed."""

    id: str
    label: str
    last_four: str
    created: str
    last_used: str
    expires: str
    expired: bool
    used: int
    limit: int | None
    next_request: int


@frozen
class KeyPages:
    """Handles the pages of a member's keys; `_changes` limits how often a member creates and rotates keys."""

    _requests: AccountRequests
    _keys: UserKeys
    _connect: ConnectPage
    _changes: Limiter
    _now: Callable[[], float]

    async def get(self, request: Request) -> bytes:
        """Return the list of keys and the form that creates a key."""
        member = await self._requests.member(request)
        return self._requests.page(request, member.session, "keys", await self._list(member))

    async def post(self, request: Request) -> bytes:
        """Create a key, and redirect to the page that shows its secret."""
        member, form = await self._requests.member_form(request)
        label, expiry = form.get("label", ""), form.get("expires", "never")
        try:
            self._changes.charge(member.account.id)
            session = member.session.identifier
            key = await self._keys.create(member.account, session, label, self._expires_at(expiry))
        except DirectoryError as error:
            max_keys = error.most if isinstance(error, TooManyKeys) else None
            values = {**await self._list(member), "label": label, "expires": expiry, "max_keys": max_keys}
            return self._requests.form_error(request, member.session, "keys", values)
        return see_other(request, _secret_page(key.id))

    async def rotate(self, request: Request, key_id: str) -> bytes:
        """Rotate the secret of a key, and redirect to the page that shows the new secret."""
        member, _ = await self._requests.member_form(request)
        try:
            self._changes.charge(member.account.id)
            key = await self._keys.rotate(member.account, member.session.identifier, key_id)
        except DirectoryError:
            return self._requests.form_error(request, member.session, "keys", await self._list(member))
        return see_other(request, _secret_page(key.id))

    async def get_rotate(self, request: Request, key_id: str) -> bytes:
        """Redirect to the list of keys. Browsers may GET the URL of the form after a rejected rotation."""
        await self._requests.member(request)
        return see_other(request, KEYS)

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
            "editors": self._connect.editors(request, new.secret),
            "endpoint": PATH.decode(),
        }
        return self._requests.page(request, member.session, "key", values)

    async def confirm_revoke(self, request: Request, key_id: str) -> bytes:
        """Return the page that asks to confirm the revocation of a key."""
        member = await self._requests.member(request)
        key = await self._keys.find(member.account, key_id)
        return self._requests.page(request, member.session, "revoke", {"key": key})

    async def revoke(self, request: Request, key_id: str) -> bytes:
        """Revoke a key and redirect to the list of keys."""
        member, _ = await self._requests.member_form(request)
        await self._keys.revoke(member.account, key_id)
        return see_other(request, KEYS)

    async def _list(self, member: Member) -> dict[str, object]:
        rows = [_row(each, self._now()) for each in await self._keys.list(member.account)]
        return {
            "keys": rows,
            "label": "",
            "max_keys": None,
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


def _secret_page(key_id: str) -> str:
    return f"{KEYS}/{key_id}/secret"


def _row(usage: KeyUsage, now: float) -> KeyRow:
    key, allowance = usage.key, usage.allowance
    return KeyRow(
        key.id,
        key.label,
        key.last_four,
        _format_time(key.created_at),
        _format_time(usage.last_used),
        _format_time(key.expires_at),
        key.expires_at is not None and key.expires_at <= now,
        0 if allowance.limit is None or allowance.remaining is None else allowance.limit - allowance.remaining,
        allowance.limit,
        ceil(allowance.reset / 60),
    )


def _format_time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
