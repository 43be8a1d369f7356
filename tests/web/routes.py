"""The routes of a server with all features, and the objects that handle them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from directory_server.web.routes import Route

from .conftest import Server, open_server

T = TypeVar("T")


@cache
def all_routes() -> tuple[Route, ...]:
    """Return the routes of a server."""
    with TemporaryDirectory() as folder, open_server(Path(folder), {}) as server:
        return server.site._routes.routes  # type: ignore[no-any-return]


def handlers(server: Server, kind: type[T]) -> T:
    """Return the object of a class that handles requests of a server."""
    return next(app.handlers for app in server.site._routes.apps if isinstance(app.handlers, kind))
