"""The web part of sign-in with other servers: handlers."""

from __future__ import annotations

from ...config import read_secret
from ...feature.parts import WebPart
from ...feature.server import Server
from ...http_client import document_client
from ...issuers import issuer_of
from ...web.account import SIGN_IN, SIGN_IN_METHODS, AccountRequests
from ...web.health import ISSUERS
from ...web.pages import Extension
from ...web.routes import APPS, OAUTH_HINT
from .pages import Method, SignInPages, TokenMetadata
from .providers import Client, GitHubProvider, OpenIdProvider, Provider
from .settings import IssuerConfig, SignInConfig
from .tokens import METADATA

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
    extension=Extension(NAME, "directory_server.features.sign_in"),
    serve=_serve,
)
