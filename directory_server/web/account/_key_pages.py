"""The page of a member's keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from math import ceil

from attrs import frozen

from ...domain.errors import BadInput, DirectoryError
from ...http import Request
from ...services.user_keys import KeyUsage, UserKeys
from ..mcp import PATH
from ..rate_limit import Limiter
from ._connect_page import ConnectPage
from ._requests import KEYS, AccountRequests, Member, see
from ._terms import pending_terms

DAY = 86_400.0

EXPIRIES = {"never": None, "30": 30 * DAY, "90": 90 * DAY, "365": 365 * DAY}
"""What a new key's life may be, in seconds."""


@frozen
class Row:
    """A key as the page shows it: moments in UTC, empty for never; `frees` is minutes until one more is admitted."""

    id: str
    label: str
    last_four: str
    created: str
    last_used: str
    expires: str
    expired: bool
    used: int
    limit: int | None
    frees: int


@frozen
class KeyPages:
    """Answers the pages of a member's keys; `changes` bounds how often each member makes and rotates some."""

    _visits: AccountRequests
    _keys: UserKeys
    _connect: ConnectPage
    _changes: Limiter
    _now: Callable[[], float]

    async def get(self, request: Request) -> bytes:
        """Answer the list of keys, and the form for another."""
        member = await self._visits.member(request)
        return self._visits.page(request, member.visitor, "keys", await self._list(member))

    async def post(self, request: Request) -> bytes:
        """Create a key, and redirect to the page that shows its secret."""
        member, form = await self._visits.members_form(request)
        label, expiry = form.get("label", ""), form.get("expires", "never")
        try:
            self._changes.charge(member.account.id)
            session = member.visitor.identifier
            key = await self._keys.create(member.account, session, label, self._expires_at(expiry))
        except DirectoryError:
            again = {**await self._list(member), "label": label, "expires": expiry}
            return self._visits.again(request, member.visitor, "keys", again)
        return see(request, _secret_page(key.id))

    async def rotate(self, request: Request, key_id: str) -> bytes:
        """Give a key a new secret, and redirect to the page that shows it."""
        member, _ = await self._visits.members_form(request)
        try:
            self._changes.charge(member.account.id)
            key = await self._keys.rotate(member.account, member.visitor.identifier, key_id)
        except DirectoryError:
            return self._visits.again(request, member.visitor, "keys", await self._list(member))
        return see(request, _secret_page(key.id))

    async def get_rotate(self, request: Request, key_id: str) -> bytes:
        """Redirect to the list of keys: after a refused rotation a browser may GET the address of the form."""
        await self._visits.member(request)
        return see(request, KEYS)

    async def secret(self, request: Request, key_id: str) -> bytes:
        """Answer the new secret of a key to the session that created or rotated it, once; after that, say so."""
        member = await self._visits.member(request)
        key = await self._keys.find(member.account, key_id)
        # HEAD must not use up what it does not show.
        new = None if request.method == b"HEAD" else await self._keys.read_secret(member.visitor.identifier, key)
        if new is None:
            status = 200 if request.method == b"HEAD" else 410
            return self._visits.page(request, member.visitor, "secret_shown", {"key": key}, status)
        values = {
            "key": key,
            "secret": new.secret,
            "rotated": new.rotated,
            "grace": ceil(self._keys.grace),
            "editors": self._connect.editors(request, new.secret),
            "endpoint": PATH.decode(),
        }
        return self._visits.page(request, member.visitor, "key", values)

    async def ask_to_revoke(self, request: Request, key_id: str) -> bytes:
        """Answer the question whether a key is to end."""
        member = await self._visits.member(request)
        key = await self._keys.find(member.account, key_id)
        return self._visits.page(request, member.visitor, "revoke", {"key": key})

    async def revoke(self, request: Request, key_id: str) -> bytes:
        """End a key."""
        member, _ = await self._visits.members_form(request)
        await self._keys.revoke(member.account, key_id)
        return see(request, KEYS)

    async def _list(self, member: Member) -> dict[str, object]:
        rows = [_row(each, self._now()) for each in await self._keys.list(member.account)]
        return {
            "keys": rows,
            "label": "",
            "expires": "never",
            "expiries": list(EXPIRIES),
            "pending": not member.account.approved,
            **pending_terms(self._keys),
        }

    def _expires_at(self, expiry: str) -> float | None:
        if expiry not in EXPIRIES:
            raise BadInput(f"expires: must be one of {', '.join(EXPIRIES)}.", code="form_wrong")
        lifetime = EXPIRIES[expiry]
        return None if lifetime is None else self._now() + lifetime


def _secret_page(key_id: str) -> str:
    return f"{KEYS}/{key_id}/secret"


def _row(used: KeyUsage, now: float) -> Row:
    key, left = used.key, used.allowance
    return Row(
        key.id,
        key.label,
        key.last_four,
        _moment(key.created_at),
        _moment(used.last_used),
        _moment(key.expires_at),
        key.expires_at is not None and key.expires_at <= now,
        0 if left.limit is None or left.remaining is None else left.limit - left.remaining,
        left.limit,
        ceil(left.reset / 60),
    )


def _moment(moment: float | None) -> str:
    return "" if moment is None else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M")
