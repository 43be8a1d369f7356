"""The web part of managed settings: handlers and tab."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from .handlers import PAGE, ManagedSettingsHandlers, Policies
from .selection import Selection

NAME = "managed_settings"


def _serve(kernel: Kernel) -> Endpoints:
    storage = kernel.storage
    policies = Policies(Selection(storage.store, storage.curation, kernel.offload, storage.tables), kernel.now)
    return Endpoints([ManagedSettingsHandlers(kernel.operators.of_folder(NAME), kernel, policies).app])


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.managed_settings", tabs=(("rules", PAGE, f"{NAME}.tab"),)),
)
