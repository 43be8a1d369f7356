"""The web part of marks: handlers and tab."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from .operator_pages import MARKS, OperatorPages
from .tables import AcceptedMarks

NAME = "text_marks"


def _serve(kernel: Kernel) -> Endpoints:
    accepted = AcceptedMarks(kernel.storage.tables)
    return Endpoints([OperatorPages(kernel.operators.of_folder(NAME), accepted, kernel).app])


PART = WebPart(
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.text_marks", tabs=(("entries", MARKS, f"{NAME}.tab"),)),
)
