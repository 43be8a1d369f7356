"""The web part of ARD: handlers."""

from __future__ import annotations

from ...config import Config
from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, RobotsLines, WebPart
from .documents import CARDS, MANIFEST, OWN_CARD
from .handlers import ArdAccess, ArdHandlers
from .settings import ArdConfig


def _serve(kernel: Kernel) -> Endpoints:
    settings = kernel.config.of(ArdConfig)
    access = ArdAccess(settings.access, kernel.authenticator, kernel.registry_reads)
    return Endpoints([ArdHandlers(access, kernel, settings).app])


def _robots(config: Config) -> RobotsLines:
    if config.of(ArdConfig).access == "off":
        return RobotsLines()
    return RobotsLines((MANIFEST, f"{CARDS}/", OWN_CARD), [("Agentmap", MANIFEST)])


PART = WebPart(
    extension=Extension("ard", "directory_server.features.ard", head_parts=("head.html",)),
    serve=_serve,
    robots=_robots,
)
