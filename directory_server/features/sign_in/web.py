"""The web part of sign-in with other servers: handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from attrs import frozen
from twisted.logger import Logger
from werkzeug.exceptions import NotFound as UnknownPath

from ... import serialization
from ...config import read_secret
from ...domain.accounts import Account
from ...domain.audit import Actor
from ...domain.errors import BadInput, DirectoryError, SignInRefused
from ...domain.keys import UNKNOWN
from ...domain.throttling import AttemptLimit
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http import Request
from ...http.errors import HttpError
from ...http.headers import query
from ...http_client import document_client
from ...issuers import issuer_of
from ...tables import StoredIdentities
from ...texts.sanitize import clean_text
from ...web.account import KEYS, SIGN_IN, SIGN_IN_METHODS, AccountRequests, local_path
from ...web.health import ISSUERS
from ...web.responses import conditional_response
from ...web.routes import APPS, OAUTH_HINT, Api, App
from ...web.routing import no_oauth
from .providers import (
    Attempt,
    Client,
    GitHubProvider,
    OpenIdProvider,
    Provider,
    SignInFailed,
    delete_attempt,
    read_attempt,
)
from .rules import NotAllowed, Person
from .settings import IssuerConfig, SignInConfig
from .tokens import METADATA, RESOURCES, metadata

MAX_CODE = 4_096
"""Characters of an authorization code."""

MAX_AGE = 3_600
"""Seconds for which the metadata may be cached."""

_BY_ADDRESS = AttemptLimit("sign-in elsewhere", rate=10 / 60.0, burst=20)
"""Responses of issuers per address: each causes requests to the issuer."""


@frozen
class Method:
    """A button on the sign-in page, for one provider."""

    _provider: Provider
    _identities: StoredIdentities

    @property
    def title(self) -> str:
        return self._provider.settings.title or self._provider.settings.name

    @property
    def path(self) -> str:
        return f"{SIGN_IN}/{self._provider.settings.name}"

    async def signed_out(self, account: Account) -> str:
        last = next(iter(await self._identities.of(account.id)), None)
        if last is None or last.issuer != self._provider.settings.url:
            return ""
        return f"{self.path}/sign-out" if await self._provider.sign_out_url("") else ""


@frozen
class SignInPages:
    """Handles the sign-ins of `_providers`, by their names."""

    app = App()

    _log = Logger()

    _requests: AccountRequests
    _providers: Mapping[str, Provider]
    _server: Server

    @app.get(f"{SIGN_IN}/{{issuer}}")
    async def start(self, request: Request, issuer: str) -> bytes:
        """Redirect to the issuer, and set a cookie that binds its response to this browser."""
        provider, back = self._provider(issuer), local_path(_parameters(request).get("next", KEYS), KEYS)
        attempt = Attempt(issuer, back, self._server.now())
        try:
            url = await provider.authorization_url(attempt)
        except SignInFailed as error:
            return self._failed(request, issuer, back, error)
        attempt.set(request, secure=self._requests.cookies.is_secure(request))
        return self._requests.redirect(request, url)

    @app.get(f"{SIGN_IN}/{{issuer}}/callback", changes=True)
    async def finish(self, request: Request, issuer: str) -> bytes:
        """Check the response of the issuer, start a session and redirect to the page that was asked for."""
        provider, secure = self._provider(issuer), self._requests.cookies.is_secure(request)
        attempt, parameters = read_attempt(request, secure=secure), _parameters(request)
        delete_attempt(request, secure=secure)
        if attempt is None or not attempt.is_answered_by(issuer, parameters.get("state", ""), self._server.now()):
            return self._failed(request, issuer, KEYS, SignInFailed("It has expired.", code="sign_in_expired"))
        back = local_path(attempt.back, KEYS)
        try:
            await self._server.storage.people.attempts.charge(_BY_ADDRESS, self._server.proxies.client(request))
            if request.audit is not None:
                request.audit.note(Actor("anonymous"), {"issuer": issuer})
            person = await self._person(provider, attempt, parameters)
            account = await self._account(provider, person)
        except DirectoryError as error:
            return self._failed(request, issuer, back, error)
        if request.audit is not None:
            request.audit.identify(account)
        client = self._requests.cookies.client(request) if self._server.config.accounts.session_clients else UNKNOWN
        session = await self._server.storage.people.sessions.open(account.id, client, person.identity.digest)
        self._requests.cookies.set(request, session)
        return self._requests.redirect(request, back)

    @app.get(f"{SIGN_IN}/{{issuer}}/sign-out")
    async def signed_out(self, request: Request, issuer: str) -> bytes:
        """Return the page for somebody who has signed out here, with a link to sign out of the issuer as well."""
        provider = self._provider(issuer)
        url = await provider.sign_out_url(self._server.config.web.url.rstrip("/") + SIGN_IN)
        if not url:
            return self._requests.redirect(request, SIGN_IN)
        session = await self._requests.cookies.load_or_create(request)
        title = provider.settings.title or provider.settings.name
        return self._requests.page(request, session, "signed_out", {"sign_out_url": url, "title": title})

    def _provider(self, issuer: str) -> Provider:
        if issuer not in self._providers:
            raise UnknownPath
        return self._providers[issuer]

    async def _person(self, provider: Provider, attempt: Attempt, parameters: Mapping[str, str]) -> Person:
        code, error = parameters.get("code", ""), parameters.get("error", "")
        if error == "access_denied":
            raise SignInFailed("The person or the issuer denied it.", code="sign_in_denied")
        if error or not 1 <= len(code) <= MAX_CODE:
            # The text may be of anybody: it is logged, and not shown.
            raise SignInFailed(f"The issuer sent no code but the error {clean_text(error, 100)!r}.")
        return await provider.person(attempt, code, parameters.get("iss"))

    async def _account(self, provider: Provider, person: Person) -> Account:
        creates = provider.settings.create
        account: Account | None = await self._server.storage.people.identities.sign_in(
            person.identity, person.email, creates=creates
        )
        if account is None or account.disabled_at is not None:
            raise NotAllowed("There is no account for the person, or it is disabled.")
        return account

    def _failed(self, request: Request, issuer: str, back: str, error: DirectoryError) -> bytes:
        """Redirect to the sign-in page, which shows `error`."""
        shown = error
        if isinstance(error, SignInFailed | NotAllowed):
            self._log.warn("Sign-in with {issuer} failed: {reason}", issuer=issuer, reason=error.message)
            shown = SignInRefused()
            shown.code = error.code
        try:
            raise shown
        except DirectoryError:
            return self._requests.form_error(request, f"{SIGN_IN}?{urlencode({'next': back})}")


OAUTH = Api("OAuth", any_origin="read")


@frozen
class TokenMetadata:
    """Handles the metadata for clients that look for the issuers of access tokens (RFC 9728)."""

    app = App(OAUTH)

    _issuers: tuple[IssuerConfig, ...]
    _base_url: str

    @app.any(METADATA)
    async def root(self, request: Request) -> bytes:
        return self._respond(request, "")

    @app.any(METADATA + RESOURCES[1])
    async def mcp(self, request: Request) -> bytes:
        return self._respond(request, request.path.decode("latin-1").partition("protected-resource")[2])

    def _respond(self, request: Request, path: str) -> bytes:
        if not self._issuers:
            return no_oauth(request)
        body = serialization.encode(metadata(self._base_url, path, self._issuers))
        return conditional_response(request, body, f"public, max-age={MAX_AGE}")


def _parameters(request: Request) -> Mapping[str, Any]:
    """Return the parameters of the query string. Raises HttpError for a parameter that is there twice."""
    try:
        pairs = parse_qsl(query(request).decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError:
        raise HttpError(400, "bad_request", "The query string must be UTF-8, and have at most 50 parameters.") from None
    values = dict(pairs)
    # RFC 6749, section 3.1: parameters must not be included more than once.
    if len(values) < len(pairs):
        raise BadInput("A parameter of the query string must not be repeated.")
    return values


NAME = "sign_in"


def _serve(server: Server) -> None:
    config, storage = server.config, server.storage
    settings, base_url = config.of(SignInConfig), config.web.url.rstrip("/")
    providers = {issuer.name: _provider(server, issuer, base_url) for issuer in settings.sign_in_issuers}
    pages = SignInPages(AccountRequests(server.operators.cookies, server.layout, NAME), providers, server)
    issuers = tuple(settings.token_issuers)
    server.add(APPS, pages.app, TokenMetadata(issuers, base_url).app)
    server.add(ISSUERS, *(provider.issuer for provider in providers.values() if isinstance(provider, OpenIdProvider)))
    server.add(SIGN_IN_METHODS, *(Method(provider, storage.people.identities) for provider in providers.values()))
    if issuers:
        hint = f"The authorization servers of this directory are listed in {base_url}{METADATA}."
        server.set(OAUTH_HINT, hint)


def _provider(server: Server, settings: IssuerConfig, base_url: str) -> Provider:
    client = Client(
        document_client(server.reactor, "sign-in", server.trace),
        settings,
        f"{base_url}{SIGN_IN}/{settings.name}/callback",
        read_secret("sign_in.issuer.client_secret_file", settings.client_secret_file),
    )
    if settings.kind == "github":
        return GitHubProvider(client)
    return OpenIdProvider(client, issuer_of(settings.url, server.reactor, server.offload, server.now, server.trace))


PART = WebPart(
    serve=_serve,
)
