"""The web part of publishing: handlers, the page of the audit log, and operations of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ...domain.throttling import AttemptLimit
from ...feature.parts import WebPart
from ...feature.server import Server
from ...tables import StoredEndings
from ...web.account import Sent, page
from ...web.health import ISSUERS
from ...web.operator_requests import ADMIN, PER_PAGE, OperatorRequests, next_url, page_of, row_number
from ...web.registry import REGISTRY_READERS
from ...web.routes import APPS, App
from .handlers import PublisherAccess, PublishHandlers
from .logins import AllowedLogin, LoginService
from .openapi import PART as OPENAPI
from .service import PublishingService, proven_namespaces
from .settings import PublishConfig
from .tables import PublicationLog, PublisherTokens

PUBLICATIONS = f"{ADMIN}/publications"


@frozen
class PublicationPages:
    """Handles the audit log of publisher tokens."""

    app = App()

    _requests: OperatorRequests
    _log: PublicationLog

    @app.get(PUBLICATIONS)
    @page("list")
    async def get(self, sent: Sent) -> Mapping[str, Any]:
        newest = await self._log.newest(PER_PAGE + 1, row_number(sent.fields.get("after", "")))
        rows = page_of(newest)
        return {"rows": rows, "next_url": next_url(PUBLICATIONS, newest, str(rows[-1][0]) if rows else "")}


NAME = "publishing"


def _serve(server: Server) -> None:
    settings, storage = server.config.of(PublishConfig), server.storage
    log = PublicationLog(storage.tables)
    service = PublishingService(
        tokens=PublisherTokens(storage.tables, server.now),
        log=log,
        directory=server.directory,
        store=storage.store,
        curation=storage.curation,
        attempts=storage.people.attempts,
        now=server.now,
        limit=AttemptLimit("publish", settings.per_minute / 60, settings.per_minute),
        endings=StoredEndings(storage.tables),
        announce=server.bus.announce,
        scopes=server.catalogue.scopes,
        proven=proven_namespaces(settings, storage),
    )
    logins = LoginService(
        logins=_logins(server, settings),
        tokens=PublisherTokens(storage.tables, server.now),
        log=log,
        attempts=storage.people.attempts,
        now=server.now,
        limit=AttemptLimit("login", settings.per_minute / 60, settings.per_minute),
    )
    access = PublisherAccess(settings.enabled, service, server, logins.methods)
    publications = PublicationPages(server.operators.of_folder(NAME), log)
    server.add(APPS, PublishHandlers(access, service, logins, server).app, publications.app)
    if settings.enabled:
        server.add(REGISTRY_READERS, access)
    server.add(ISSUERS, *logins.issuers)


def _logins(server: Server, settings: PublishConfig) -> Mapping[str, AllowedLogin]:
    """Return the logins that are configured, by their method."""
    if not (settings.enabled and settings.has_logins):
        return {}
    # HTTP clients and JOSE take 10 MB and .2 seconds.
    from .login_methods import allowed_logins

    return allowed_logins(server)


PART = WebPart(
    tabs=(("entries", PUBLICATIONS, f"{NAME}.publications"),),
    serve=_serve,
    openapi=OPENAPI,
)
