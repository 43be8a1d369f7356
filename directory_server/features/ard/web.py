"""The web part of ARD: routes and handlers."""

from __future__ import annotations

from ...config import Config
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, RobotsLines, WebPart
from ...web.routes import Api, Route
from .documents import BASE, CARDS, MANIFEST, OWN_CARD
from .errors import error_body
from .handlers import ArdAccess, ArdHandlers
from .settings import ArdConfig

ARD = Api("ARD", any_origin="write", error_body=error_body)


def _serve(kernel: Kernel) -> Endpoints:
    settings = kernel.config.of(ArdConfig)
    access = ArdAccess(settings.access, kernel.authenticator, kernel.registry_reads)
    return Endpoints({"ard": ArdHandlers(access, kernel, settings)})


def _robots(config: Config) -> RobotsLines:
    if config.of(ArdConfig).access == "off":
        return RobotsLines()
    return RobotsLines((MANIFEST, f"{CARDS}/", OWN_CARD), [("Agentmap", MANIFEST)])


PART = WebPart(
    extension=Extension("ard", "directory_server.features.ard", head_parts=("head.html",)),
    routes=(
        Route(f"{BASE}/search", "POST", ARD, "ard.search"),
        Route(f"{BASE}/explore", "POST", ARD, "ard.explore"),
        Route(f"{BASE}/agents", "GET", ARD, "ard.agents"),
        Route(f"{CARDS}/{{mcp_id}}", "GET", ARD, "ard.card"),
        Route(OWN_CARD, "GET", ARD, "ard.own_card"),
        Route(MANIFEST, "GET", ARD, "ard.manifest"),
        Route("/.well-known/ard.json", "GET", ARD, "ard.manifest"),
        Route("/.well-known/mcp/catalog.json", "GET", ARD, "ard.mcp_catalog"),
    ),
    serve=_serve,
    robots=_robots,
)
