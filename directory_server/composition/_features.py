"""The web parts of all features, and the rows of the routing table."""

from __future__ import annotations

from functools import cache

from ..features import FEATURES
from ..web.pages import Extension
from ..web.parts import WebPart
from ..web.routes import ROUTES, Route


@cache
def web_parts() -> tuple[WebPart, ...]:
    """Return the web parts of all features."""
    return tuple(feature.web() for feature in FEATURES if feature.web is not None)


@cache
def all_routes() -> tuple[Route, ...]:
    """Return the rows of the kernel and of all features."""
    return (*ROUTES, *(route for part in web_parts() for route in part.routes))


def public_paths() -> list[str]:
    """Return the paths of the public pages of all features."""
    return [path for part in web_parts() for path in part.public_paths()]


def extensions() -> tuple[Extension, ...]:
    """Return what all features add to the pages."""
    return tuple(part.extension for part in web_parts())
