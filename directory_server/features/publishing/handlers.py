"""Publishing over the registry API: publish, change the status, validate, and log in with a publisher token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from attrs import frozen
from werkzeug.exceptions import NotFound as UnknownPath

from ...domain.audit import Actor, recorded_text
from ...domain.errors import DirectoryError, Forbidden, InvalidServer, InvalidToken, NoAccess, NotFound
from ...domain.keys import is_publisher_secret
from ...feature.server import Server
from ...http import Request
from ...http.errors import HttpError
from ...http.headers import value as header
from ...serialization import card_name, decode
from ...web.audit import Values
from ...web.authentication import bearer_secret, check_url
from ...web.registry import PAGE_BYTES, path_text
from ...web.responses import json_response
from ...web.routes import REGISTRY, App, versioned
from .documents import (
    changed_response,
    ending_of_body,
    login_token,
    move_of_body,
    published_entry,
    published_response,
    server_issues,
    status_change,
    validation_result,
)
from .logins import LoginService
from .service import PublishedVersion, Publisher, PublishingService
from .tokens import PublisherToken

LOGIN_HINT = "Log in with: mcp-publisher login github --token <publisher token> --registry <URL>{}."

LOGIN = "github-at"
"""The login of `mcp-publisher` that works with a publisher token: `login github --token`."""


@frozen
class PublisherAccess:
    """Authentication by publisher token, or by access token if the server accepts these. Off without `is_enabled`."""

    is_enabled: bool
    _service: PublishingService
    _server: Server
    _methods: Sequence[str]

    @property
    def login_hint(self) -> str:
        """The text for clients of the registry API that try to log in with another method."""
        return LOGIN_HINT.format("".join(f", or with: login {method}" for method in self._methods))

    def recognizes(self, request: Request) -> bool:
        """Return whether a request has a publisher token in its Authorization header."""
        return is_publisher_secret(bearer_secret(request))

    async def authenticate(self, request: Request, secret: str | None = None) -> Publisher:
        """Return the publisher of a request, with `secret` or that of the Authorization header.

        Raises UnknownPath if publishing is off, NoAccess, Throttled, and BadInput for a token in the URL.
        """
        self.check_enabled()
        check_url(request)
        secret = bearer_secret(request) if secret is None else secret
        tokens = self._server.authenticator.tokens
        try:
            subject = None if tokens is None else await tokens.publisher(secret)
            return await self._service.authenticate(subject or secret, self._server.proxies.network(request))
        except NoAccess as error:
            self._server.failed_keys.charge(request)
            if tokens is not None:
                error.challenge = tokens.challenge(request, error, publishes=True)
            raise

    async def log_in(
        self, request: Request, log_in: Callable[[str], Awaitable[tuple[PublisherToken, str]]]
    ) -> tuple[PublisherToken, str]:
        """Return the token and the secret of a login, for which `log_in` gets the network of the client.

        Raises what `log_in` raises, and Throttled after too many rejected logins of an address.
        """
        check_url(request)
        try:
            return await log_in(self._server.proxies.network(request))
        except (InvalidToken, InvalidServer, Forbidden):
            self._server.failed_keys.charge(request)
            raise

    def check_enabled(self) -> None:
        """Raise UnknownPath if publishing is off."""
        if not self.is_enabled:
            raise UnknownPath


@frozen
class PublishHandlers:
    """Handlers of what publishers write. The limit of reads of an address is that of its validations and logins too."""

    app = App(REGISTRY)

    _access: PublisherAccess
    _service: PublishingService
    _logins: LoginService
    _server: Server

    @app.post(*versioned("/publish", of_lists=False))
    async def publish(self, request: Request) -> bytes:
        """Publish the server.json, or the catalog entry of another kind, in the body as a new version."""
        publisher = await self._access.authenticate(request)
        server = _body(request)
        name, version = card_name(server) or _member(server, "name"), _member(server, "version")
        await _audit(request, publisher, name, {"version": version})
        try:
            if name:
                self._service.check_permission(publisher, name)
            entry = await self._server.offload(published_entry, server, self._server.now())
        except DirectoryError as error:
            await self._service.reject(publisher, "publish", name, version, error)
            raise
        published = await self._service.publish(publisher, entry)
        return json_response(request, self._item(published))

    @app.patch(*versioned("/servers/{name:path}/versions/{version}/status", of_lists=False))
    async def status(self, request: Request, name: str, version: str) -> bytes:
        (changed,) = await self._change(request, path_text(name), path_text(version))
        return json_response(request, self._item(changed))

    @app.patch(*versioned("/servers/{name:path}/status", of_lists=False))
    async def all_status(self, request: Request, name: str) -> bytes:
        """Change the status of all versions of a name; respond with their number and the first of them."""
        changed = await self._change(request, path_text(name), None)
        return json_response(request, await self._server.offload(self._changed, changed))

    @app.put(*versioned("/servers/{name:path}/end-of-life", of_lists=False))
    async def end(self, request: Request, name: str) -> bytes:
        """Set the end of life of a name, or remove it if the date is empty; respond with it."""
        publisher, name = await self._access.authenticate(request), path_text(name)
        await _audit(request, publisher, name, {})
        try:
            ending = ending_of_body(name, _body(request))
        except DirectoryError as error:
            await self._service.reject(publisher, "end of life", name, "*", error)
            raise
        if ending is not None and request.audit is not None:
            request.audit.set_values({}, {"date": ending.date, "replaced_by": ending.replaced_by})
        await self._service.end(publisher, name, ending)
        return json_response(request, {"ends": None if ending is None else ending.view()})

    @app.post(*versioned("/servers/{name:path}/move", of_lists=False))
    async def move(self, request: Request, name: str) -> bytes:
        """Move a name, or with `*` after the slash all names of a namespace; respond with the new names."""
        publisher, name = await self._access.authenticate(request), path_text(name)
        await _audit(request, publisher, name, {})
        try:
            new_name, message = move_of_body(_body(request))
        except DirectoryError as error:
            await self._service.reject(publisher, "move", name, "*", error)
            raise
        if request.audit is not None:
            request.audit.set_values({}, {"new_name": new_name})
        return json_response(request, {"moved": await self._service.move(publisher, name, new_name, message)})

    @app.post(*versioned("/validate", of_lists=False))
    async def validate(self, request: Request) -> bytes:
        """Respond with the issues of the server.json in the body. It needs no token, as in the official registry."""
        self._access.check_enabled()
        self._server.registry_reads.charge(request)
        issues = await self._server.offload(server_issues, _body(request))
        return json_response(request, validation_result(issues))

    @app.post(*versioned("/auth/{method}", of_lists=False))
    async def login(self, request: Request, method: str) -> bytes:
        """Respond to a login of `mcp-publisher` with a token.

        `login github --token TOKEN` gets the same publisher token, the other logins get a new one for 5 minutes.
        """
        self._access.check_enabled()
        if method == LOGIN:
            secret = login_token(_body(request), "github_token", 1_000)
            token = (await self._access.authenticate(request, secret)).token
        elif method in self._logins.methods:
            self._server.registry_reads.charge(request)
            body = _body(request)
            token, secret = await self._access.log_in(request, partial(self._logins.log_in, method, body))
        else:
            raise NotFound(self._access.login_hint)
        return json_response(request, {"registry_token": secret, "expires_at": int(token.expires_at or 0)})

    async def _change(self, request: Request, name: str, version: str | None) -> list[PublishedVersion]:
        publisher = await self._access.authenticate(request)
        await _audit(request, publisher, name, {"version": version or "*"})
        try:
            status, change = status_change(_body(request), self._server.now())
            if request.audit is not None:
                request.audit.set_values({}, {"version": version or "*", "status": status})
        except DirectoryError as error:
            await self._service.reject(publisher, "status", name, version or "*", error)
            raise
        return list(await self._service.change(publisher, name, version, status, change))

    def _changed(self, changed: Sequence[PublishedVersion]) -> bytes:
        items: list[bytes] = []
        size = 0
        for entry in changed:
            items.append(self._item(entry))
            size += len(items[-1])
            if size >= PAGE_BYTES:
                break
        return changed_response(len(changed), items)

    def _item(self, published: PublishedVersion) -> bytes:
        return published_response(published.entry, published.latest, self._server.now())


async def _audit(request: Request, publisher: Publisher, name: str, values: Values) -> None:
    """Store the action of a publisher before it is done, if requests are audited."""
    if request.audit is not None:
        token = publisher.token
        actor = Actor("publisher", token.id, token.label)
        await request.audit.begin(actor, values, f"name={recorded_text(name)}")


def _body(request: Request) -> Any:
    """Return the JSON value of the body. Raises BadInput, and HttpError for another content type."""
    content_type = header(request, "Content-Type")
    if content_type is not None and content_type.partition(";")[0].strip().lower() != "application/json":
        raise HttpError(415, "unsupported_media_type", "Content-Type must be application/json.")
    if header(request, "Content-Encoding") not in (None, "identity"):
        raise HttpError(415, "unsupported_media_type", "Content-Encoding must be absent or identity.")
    return decode(request.body)


def _member(server: Any, name: str) -> str:
    """Return a text of a document that is not checked, for the audit log; "" if there is none."""
    value = server.get(name) if isinstance(server, dict) else None
    return value if isinstance(value, str) else ""
