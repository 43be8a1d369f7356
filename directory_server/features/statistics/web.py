"""The web part of statistics: a page for operators, and charts of keys."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from .charts import KEY_PART
from .operator_pages import PAGE, OperatorPages
from .settings import StatisticsConfig
from .tables import Statistics

NAME = "statistics"


def _serve(kernel: Kernel) -> Endpoints:
    settings = kernel.config.of(StatisticsConfig)
    requests, statistics = kernel.operators.of_folder(NAME), Statistics(kernel.storage.statistics_tables)
    return Endpoints([OperatorPages(requests, statistics, kernel, settings).app])


PART = WebPart(
    serve=_serve,
    key_parts=(KEY_PART,),
    extension=Extension(NAME, "directory_server.features.statistics", tabs=(("server", PAGE, f"{NAME}.tab"),)),
)
