"""The web part of publishing: routes, handlers, the page of the audit log, and operations of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.throttling import AttemptLimit
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, REGISTRY, Route
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
        handlers={
            "publish": PublishHandlers(access, service, logins, kernel),
            "publications": PublicationPages(kernel.operators.of_folder(NAME), log),
        },
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


def _routes(version: str) -> list[Route]:
    servers = f"/{version}/servers"
    return [
        Route(f"/{version}/publish", "POST", REGISTRY, "publish.publish"),
        Route(f"/{version}/validate", "POST", REGISTRY, "publish.validate"),
        Route(f"/{version}/auth/{{method}}", "POST", REGISTRY, "publish.login"),
        Route(f"{servers}/{{name:path}}/versions/{{version}}/status", "PATCH", REGISTRY, "publish.status"),
        Route(f"{servers}/{{name:path}}/status", "PATCH", REGISTRY, "publish.all_status"),
    ]


PART = WebPart(
    extension=Extension(
        NAME, "directory_server.features.publishing", tabs=(("entries", PUBLICATIONS, f"{NAME}.publications"),)
    ),
    routes=(*_routes("v0.1"), *_routes("v0"), Route(PUBLICATIONS, "GET", PAGES, "publications.get")),
    serve=_serve,
    openapi=OPENAPI,
)
