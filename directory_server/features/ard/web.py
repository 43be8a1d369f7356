"""The web part of ARD: handlers."""

from __future__ import annotations

from ...feature.parts import ROBOTS, RobotsLines, WebPart
from ...feature.server import Server
from ...http_client import document_client
from ...web.routes import APPS
from .access import ArdAccess
from .documents import CARDS, FORMER_MANIFEST, MANIFEST, OWN_CARD
from .federation import Federation
from .handlers import ArdHandlers
from .settings import ArdConfig


def _serve(server: Server) -> None:
    settings = server.config.of(ArdConfig)
    access = ArdAccess(settings.access, server.authenticator, server.registry_reads)
    client = document_client(server.reactor, "ARD", server.trace)
    federation = Federation(
        client, server.reactor, server.offload, settings.federation, float(settings.federation_timeout)
    )
    server.add(APPS, ArdHandlers(access, server, settings, federation).app)
    if settings.access != "off":
        server.add(ROBOTS, RobotsLines((MANIFEST, FORMER_MANIFEST, f"{CARDS}/", OWN_CARD), [("Agentmap", MANIFEST)]))


PART = WebPart(
    head_parts=("head.html",),
    serve=_serve,
)
