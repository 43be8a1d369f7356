"""The web part of statistics: a page for operators, and charts of keys."""

from __future__ import annotations

from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.operator_requests import OVERVIEW_PARTS, OverviewPart
from ...web.pages import KEY_PARTS, Extension
from ...web.routes import APPS
from .charts import KEY_PART, charts_of_all
from .operator_pages import PAGE, OperatorPages
from .settings import StatisticsConfig
from .tables import Statistics

NAME = "statistics"


def _serve(server: Server) -> None:
    settings = server.config.of(StatisticsConfig)
    requests, statistics = server.operators.of_folder(NAME), Statistics(server.storage.statistics_tables)
    server.add(KEY_PARTS, KEY_PART)
    if settings.days:
        part = OverviewPart("statistics/overview.html", lambda: charts_of_all(statistics, server.now()))
        server.add(OVERVIEW_PARTS, part)
    server.add(APPS, OperatorPages(requests, statistics, server, settings).app)


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.statistics", tabs=(("server", PAGE, f"{NAME}.tab"),)),
)
