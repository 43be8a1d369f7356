"""The web part of statistics: a page for operators, and charts of keys."""

from __future__ import annotations

from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.pages import KEY_PARTS, Extension
from ...web.routes import APPS
from .charts import KEY_PART
from .operator_pages import PAGE, OperatorPages
from .settings import StatisticsConfig
from .tables import Statistics

NAME = "statistics"


def _serve(server: Server) -> None:
    settings = server.config.of(StatisticsConfig)
    requests, statistics = server.operators.of_folder(NAME), Statistics(server.storage.statistics_tables)
    server.add(KEY_PARTS, KEY_PART)
    server.add(APPS, OperatorPages(requests, statistics, server, settings).app)


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.statistics", tabs=(("server", PAGE, f"{NAME}.tab"),)),
)
