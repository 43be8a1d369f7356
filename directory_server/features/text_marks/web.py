"""The web part of marks: handlers and tab."""

from __future__ import annotations

from ...feature.parts import WebPart
from ...feature.server import Server
from ...web.pages import Extension
from ...web.routes import APPS
from .operator_pages import MARKS, OperatorPages
from .tables import AcceptedMarks

NAME = "text_marks"


def _serve(server: Server) -> None:
    accepted = AcceptedMarks(server.storage.tables)
    server.add(APPS, OperatorPages(server.operators.of_folder(NAME), accepted, server).app)


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.text_marks", tabs=(("entries", MARKS, f"{NAME}.tab"),)),
)
