"""The web part of sign-in with other servers: handlers."""

from __future__ import annotations

from ...config import read_secret
from ...http_client import document_client
from ...issuers import issuer_of
from ...web.account import SIGN_IN, AccountRequests
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from .pages import Method, SignInPages, TokenMetadata
from .providers import Client, GitHubProvider, OpenIdProvider, Provider
from .settings import IssuerConfig, SignInConfig
from .tokens import METADATA

NAME = "sign_in"


def _serve(kernel: Kernel) -> Endpoints:
    config, storage = kernel.config, kernel.storage
    settings, base_url = config.of(SignInConfig), config.web.url.rstrip("/")
    providers = {issuer.name: _provider(kernel, issuer, base_url) for issuer in settings.sign_in_issuers}
    pages = SignInPages(AccountRequests(kernel.operators.cookies, kernel.layout, NAME), providers, kernel)
    issuers = tuple(settings.token_issuers)
    hint = f"The authorization servers of this directory are listed in {base_url}{METADATA}."
    return Endpoints(
        apps=[pages.app, TokenMetadata(issuers, base_url).app],
        issuers=[provider.issuer for provider in providers.values() if isinstance(provider, OpenIdProvider)],
        sign_in_methods=[Method(provider, storage.identities) for provider in providers.values()],
        oauth_hint=hint if issuers else "",
    )


def _provider(kernel: Kernel, settings: IssuerConfig, base_url: str) -> Provider:
    client = Client(
        document_client(kernel.reactor, "sign-in", kernel.trace),
        settings,
        f"{base_url}{SIGN_IN}/{settings.name}/callback",
        read_secret("sign_in.issuer.client_secret_file", settings.client_secret_file),
    )
    if settings.kind == "github":
        return GitHubProvider(client)
    return OpenIdProvider(client, issuer_of(settings.url, kernel.reactor, kernel.offload, kernel.now, kernel.trace))


PART = WebPart(
    extension=Extension(NAME, "directory_server.features.sign_in"),
    serve=_serve,
)
