"""The web part of marks: routes, handlers and tab."""

from __future__ import annotations

from ...web.pages import Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .operator_pages import MARKS, OperatorPages
from .tables import AcceptedMarks

NAME = "text_marks"


def _serve(kernel: Kernel) -> Endpoints:
    accepted = AcceptedMarks(kernel.storage.tables)
    return Endpoints({"text_marks": OperatorPages(kernel.operators.of_folder(NAME), accepted, kernel)})


PART = WebPart(
    routes=(
        Route(MARKS, "GET", PAGES, "text_marks.get"),
        Route(f"{MARKS}/accept", "POST", PAGES, "text_marks.accept"),
        Route(f"{MARKS}/withdraw", "POST", PAGES, "text_marks.withdraw"),
    ),
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.text_marks", tabs=(("entries", MARKS, f"{NAME}.tab"),)),
)
