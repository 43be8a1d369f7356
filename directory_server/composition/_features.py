"""What all features add to a server."""

from __future__ import annotations

from functools import cache

from ..domain.ports.requests import KINDS
from ..feature.parts import WebPart
from ..feature.resource_pages import with_resources
from ..feature.server import Server
from ..features import FEATURES
from ..web.pages import Extension


@cache
def web_parts() -> tuple[WebPart, ...]:
    """Return the web parts of all features, with the pages of their resources."""
    return tuple(
        with_resources(
            feature.part(feature.web) or WebPart(),
            feature.name,
            feature.package,
            [feature.part(resource) for resource in feature.resources],
        )
        for feature in FEATURES
        if feature.web or feature.resources
    )


def extensions() -> tuple[Extension, ...]:
    """Return what all features add to the pages."""
    return tuple(part.extension for part in web_parts() if part.extension is not None)


def register_features(server: Server) -> None:
    """Add what all features do in a server."""
    server.add(KINDS, *(feature.part(kind) for feature in FEATURES for kind in feature.kinds))
    for feature in FEATURES:
        feature.register(server)
