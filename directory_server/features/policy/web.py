"""The web part of the policy: the operator page."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .dry_run import DryRun
from .operator_pages import POLICY, OperatorPages
from .settings import PolicyConfig
from .tables import RuledNames

NAME = "policy"


def _serve(kernel: Kernel) -> Endpoints:
    names = RuledNames.of(kernel.storage.background_tables, kernel.config)
    rules = kernel.config.of(PolicyConfig).rules
    pages = OperatorPages(kernel.operators.of_folder(NAME), rules, names, DryRun(names))
    return Endpoints({NAME: pages})


PART = WebPart(
    routes=(Route(POLICY, "GET", PAGES, f"{NAME}.get"),),
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.policy", tabs=((POLICY, f"{NAME}.tab"),)),
)
