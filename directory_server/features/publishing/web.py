"""The web part of publishing: handlers, the page of the audit log, and operations of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.throttling import AttemptLimit
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from .handlers import PublisherAccess, PublishHandlers
from .logins import AllowedLogin, LoginService
from .openapi import PART as OPENAPI
from .operator_pages import PUBLICATIONS, PublicationPages
from .service import PublishingService, proven_namespaces
from .settings import PublishConfig
from .tables import PublicationLog, PublisherTokens

NAME = "publishing"


def _serve(kernel: Kernel) -> Endpoints:
    settings, storage = kernel.config.of(PublishConfig), kernel.storage
    log = PublicationLog(storage.tables)
    service = PublishingService(
        tokens=PublisherTokens(storage.tables, kernel.now),
        log=log,
        directory=kernel.directory,
        store=storage.store,
        attempts=storage.attempts,
        now=kernel.now,
        limit=AttemptLimit("publish", settings.per_minute / 60, settings.per_minute),
        proven=proven_namespaces(settings, storage),
    )
    logins = LoginService(
        logins=_logins(kernel, settings),
        tokens=PublisherTokens(storage.tables, kernel.now),
        log=log,
        attempts=storage.attempts,
        now=kernel.now,
        limit=AttemptLimit("login", settings.per_minute / 60, settings.per_minute),
    )
    access = PublisherAccess(settings.enabled, service, kernel, logins.methods)
    return Endpoints(
        apps=[
            PublishHandlers(access, service, logins, kernel).app,
            PublicationPages(kernel.operators.of_folder(NAME), log).app,
        ],
        registry_readers=[access] if settings.enabled else [],
        issuers=logins.issuers,
    )


def _logins(kernel: Kernel, settings: PublishConfig) -> Mapping[str, AllowedLogin]:
    """Return the logins that are configured, by their method."""
    if not (settings.enabled and settings.has_logins):
        return {}
    # HTTP clients and JOSE take 10 MB and .2 seconds.
    from .login_methods import allowed_logins

    return allowed_logins(kernel)


PART = WebPart(
    extension=Extension(
        NAME, "directory_server.features.publishing", tabs=(("entries", PUBLICATIONS, f"{NAME}.publications"),)
    ),
    serve=_serve,
    openapi=OPENAPI,
)
