"""Pages for the API keys of a member, with editor configurations for the MCP endpoint and the key test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from math import ceil

from attrs import evolve, frozen

from ...client_config import Names, Setups, endpoint_setups
from ...domain.errors import BadInput, DirectoryError
from ...domain.throttling import Limiter
from ...http import Request
from ...services.user_keys import UserKeys
from ...tables import Requests
from ..audit import Values, changing
from ..mcp import PATH, McpEndpoint
from ..pages import KeyPartValues
from ..routes import App
from ._limits import DAY, pending_limits
from ._member_pages import Next, Sent, form, page, shown_once
from ._requests import KEYS, AccountRequests, Member, OwnRequests
from ._sessions import Session

EXPIRIES = {"never": None, "30": 30 * DAY, "90": 90 * DAY, "365": 365 * DAY}
"""Lifetimes of a new key in seconds, by the value of the form field; None for no expiry."""


ReadKeyParts = Callable[[Sequence[str]], Awaitable[KeyPartValues]]
"""Reads what features show of the keys with these ids."""


@frozen
class KeyPages:
    """Handles the pages of a member's keys; `_changes` limits how often a member creates, rotates and renames keys."""

    app = App()

    _requests: AccountRequests
    _keys: UserKeys
    _connect: ConnectPage
    _changes: Limiter
    _now: Callable[[], float]
    _read_parts: ReadKeyParts
    _registrations: Requests

    @app.get(KEYS)
    @page("keys")
    async def get(self, sent: Sent) -> Mapping[str, object]:
        account, now = sent.member.account, self._now()
        owned = await self._keys.list(account)
        asked = () if account.approved else await self._registrations.of_account(account.id, 1)
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
            "pending": not account.approved,
            "registrations": [(request, await self._registrations.events(request.id)) for request in asked],
            "reason": "",
            **pending_limits(self._keys),
        }

    @app.get("/account")
    async def get_account(self, request: Request) -> bytes:
        await self._requests.member(request)
        return self._requests.redirect(request, KEYS)

    @app.post(KEYS)
    @form(KEYS, "label", "expires")
    async def post(self, sent: Sent) -> Next:
        request, account, session = sent.request, sent.member.account, sent.member.session.identifier
        expiry = sent.fields.get("expires", "never")
        self._changes.charge(account.id)
        key = await self._keys.create(account, session, sent.fields.get("label", ""), self._expires_at(expiry))
        if request.audit is not None:
            request.audit.set_values({}, {"id": key.id, "label": key.label, "expires": expiry, "limit": key.limit})
        return Next(_path(key.id, "secret"))

    @app.post(f"{KEYS}/{{key_id}}/rotate")
    @form(KEYS)
    async def rotate(self, sent: Sent, key_id: str) -> Next:
        self._changes.charge(sent.member.account.id)
        key = await self._keys.rotate(sent.member.account, sent.member.session.identifier, key_id)
        return Next(_path(key.id, "secret"))

    @app.get(f"{KEYS}/{{key_id}}/rotate")
    async def get_rotate(self, request: Request, key_id: str) -> bytes:
        await self._requests.member(request)
        return self._requests.redirect(request, KEYS)

    @app.get(f"{KEYS}/{{key_id}}/secret")
    async def secret(self, request: Request, key_id: str) -> bytes:
        """Return the new secret once, to the session that created it; afterwards a page with status 410."""
        member = await self._requests.member(request)
        key = await self._keys.find(member.account, key_id)
        new, status = await shown_once(request, member, self._keys.new_secrets, key.id)
        if new is None:
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

    @app.get(f"{KEYS}/{{key_id}}/rename")
    @page("rename")
    async def get_rename(self, sent: Sent, key_id: str) -> Mapping[str, object]:
        key = await self._keys.find(sent.member.account, key_id)
        return {"key": key, "label": key.label}

    @app.post(f"{KEYS}/{{key_id}}/rename")
    async def rename(self, request: Request, key_id: str) -> bytes:
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

    @app.get(f"{KEYS}/{{key_id}}/revoke")
    @page("revoke")
    async def confirm_revoke(self, sent: Sent, key_id: str) -> Mapping[str, object]:
        return {"key": await self._keys.find(sent.member.account, key_id)}

    @app.post(f"{KEYS}/{{key_id}}/revoke")
    @form(KEYS)
    async def revoke(self, sent: Sent, key_id: str) -> Next:
        await self._keys.revoke(sent.member.account, key_id)
        return Next(KEYS, "key_revoked")

    async def _state(self, member: Member, key_id: str) -> Values:
        """Return the values of a key for the audit log."""
        key = await self._keys.find(member.account, key_id)
        return {"label": key.label, "limit": key.limit}

    def _expires_at(self, expiry: str) -> float | None:
        if expiry not in EXPIRIES:
            raise BadInput(f"expires must be one of {', '.join(EXPIRIES)}.", code="form_wrong")
        lifetime = EXPIRIES[expiry]
        return None if lifetime is None else self._now() + lifetime


@frozen
class OwnRegistration(OwnRequests):
    """Handles the forms for the request of somebody who has registered. The page of the keys shows it."""

    app = App()

    app.post("/account/registration/{request_id}/{action}")(OwnRequests.change)


def _path(key_id: str, page: str) -> str:
    return f"{KEYS}/{key_id}/{page}"


CONNECT = "/account/connect"
TEST = f"{CONNECT}/test"

NAME = "mcp-directory"
"""Name of the server in editor configurations."""


def setups_of(url: str, secret: str = "") -> Setups:
    """Return the setups of each editor for the MCP endpoint at `url`, which contain `secret` if it is given."""
    setups = endpoint_setups(Names(NAME, input_prefix(url), "MCP_DIRECTORY"), url, "Your API key", secret)
    others = setups.setups[-1]
    headers = {"Authorization": f"Bearer {secret or '<KEY>'}", "Content-Type": "application/json"}
    transport = {"serverUrl": url, "transport": "http", "headers": headers}
    generic = {"name": NAME, **transport, "capabilities": {"tools": True}}
    # Clients of an unknown format get settings to copy from.
    editor = evolve(others.editor, file="")
    return evolve(setups, setups=[*setups.setups[:-1], evolve(others, editor=editor, config=generic)])


def input_prefix(url: str) -> str:
    """Return the prefix of the id of the VS Code input for the key of the directory at `url`.

    VS Code shares the stored value between all servers whose configuration has the same id. So the id contains a digest
    of the URL. It differs between directories, and from the ids of entries, which begin with digits of a hash.
    """
    return f"{NAME}-{sha256(url.encode()).hexdigest()[:16]}"


@frozen
class ConnectPage:
    """Handles /account/connect: for everybody if `_is_public`, else for members. `_is_open`: anyone can register."""

    app = App()

    _requests: AccountRequests
    _mcp: McpEndpoint
    _is_public: bool
    _is_open: bool

    @app.get("/account/connect")
    async def get(self, request: Request) -> bytes:
        session = await self._session(request)
        values = {"setups": self.setups(request), "endpoint": PATH.decode(), "is_open": self._is_open}
        return self._requests.page(request, session, "connect", values)

    @app.post("/account/connect/test")
    async def test(self, request: Request) -> bytes:
        """List the tools with the key in the form, and redirect to the result."""
        if not self._is_public:
            await self._requests.member(request)
        _, form = await self._requests.form(request)
        try:
            tools = await self._mcp.tools(request, form.get("key", "").strip())
        except DirectoryError:
            return self._requests.form_error(request, TEST)
        return self._requests.redirect(request, TEST, "test_passed", tools=", ".join(tools))

    @app.get("/account/connect/test")
    async def get_test(self, request: Request) -> bytes:
        """Return the result of the last test. Without one, redirect to the editor configurations."""
        session = await self._session(request)
        if not self._requests.has_flash(request):
            return self._requests.redirect(request, CONNECT)
        return self._requests.page(request, session, "test", {"tools": ""})

    async def _session(self, request: Request) -> Session:
        """Return the session of a viewer. Raises HttpError if only members may see the page."""
        if self._is_public:
            return await self._requests.cookies.load_or_create(request)
        return (await self._requests.member(request)).session

    def setups(self, request: Request, secret: str = "") -> Setups:
        """Return the setups of each editor, which contain `secret` if it is given."""
        return setups_of(self._requests.base_url(request) + PATH.decode(), secret)
