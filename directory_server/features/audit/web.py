"""The web part of the audit log: its page, and the download."""

from __future__ import annotations

from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.pages import Extension
from ...web.routes import APPS
from .pages import PAGE, AuditPages
from .settings import AuditConfig
from .tables import AuditLog

NAME = "audit"


def _serve(server: Server) -> None:
    is_on = server.config.of(AuditConfig).enabled
    server.add(APPS, AuditPages(server.operators.of_folder(NAME), AuditLog(server.storage.tables), is_on).app)


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.audit", tabs=(("server", PAGE, f"{NAME}.tab"),)),
)
