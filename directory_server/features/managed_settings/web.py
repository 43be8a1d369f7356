"""The web part of managed settings: routes, handlers and tab."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Api, Route
from .handlers import PAGE, PATH, ManagedSettingsHandlers, Policies
from .selection import Selection

NAME = "managed_settings"


def _serve(kernel: Kernel) -> Endpoints:
    storage = kernel.storage
    policies = Policies(Selection(storage.store, storage.curation, kernel.offload, storage.tables), kernel.now)
    return Endpoints({NAME: ManagedSettingsHandlers(kernel.operators.of_folder(NAME), kernel, policies)})


PART = WebPart(
    routes=(
        Route(f"{PATH}/{{file}}", "GET", Api("settings"), f"{NAME}.get"),
        Route(PAGE, "GET", PAGES, f"{NAME}.page"),
        Route(f"{PAGE}/{{file}}", "GET", PAGES, f"{NAME}.download"),
    ),
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.managed_settings", tabs=(("rules", PAGE, f"{NAME}.tab"),)),
)
