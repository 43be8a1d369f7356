"""The web part of the audit log: its page, and the download."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from .pages import PAGE, AuditPages
from .settings import AuditConfig
from .tables import AuditLog

NAME = "audit"


def _serve(kernel: Kernel) -> Endpoints:
    is_on = kernel.config.of(AuditConfig).enabled
    return Endpoints([AuditPages(kernel.operators.of_folder(NAME), AuditLog(kernel.storage.tables), is_on).app])


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.audit", tabs=(("server", PAGE, f"{NAME}.tab"),)),
)
