"""The web part of managed settings: handlers and tab."""

from __future__ import annotations

from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.pages import Extension
from ...web.routes import APPS
from .handlers import PAGE, ManagedSettingsHandlers, Policies
from .selection import Selection

NAME = "managed_settings"


def _serve(server: Server) -> None:
    storage = server.storage
    policies = Policies(Selection(storage.store, storage.curation, server.offload, storage.tables), server.now)
    server.add(APPS, ManagedSettingsHandlers(server.operators.of_folder(NAME), server, policies).app)


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.managed_settings", tabs=(("rules", PAGE, f"{NAME}.tab"),)),
)
