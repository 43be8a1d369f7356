"""What all features add to a server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..domain.ports.requests import KINDS
from ..feature import Feature
from ..feature.parts import WebPart
from ..feature.request_pages import with_forms
from ..feature.resource_pages import with_resources
from ..feature.server import Server
from ..features import FEATURES
from ..request_resource import RequestResource
from ..resource import Resource
from ..web.pages import Extension


@cache
def web_parts() -> tuple[WebPart, ...]:
    """Return the web parts of all features, with the pages of their resources and requests."""
    return tuple(_web_part(feature) for feature in FEATURES if feature.web or feature.resources)


def _web_part(feature: Feature) -> WebPart:
    part, resources = feature.part(feature.web) or WebPart(), _resources(feature)
    for add in (with_resources, with_forms):
        part = add(part, feature.name, feature.package, resources)
    return part


def _resources(feature: Feature) -> Sequence[Resource]:
    return [feature.part(resource) for resource in feature.resources]


def extensions() -> tuple[Extension, ...]:
    """Return what all features add to the pages."""
    return tuple(part.extension for part in web_parts() if part.extension is not None)


def register_features(server: Server) -> None:
    """Add what all features do in a server."""
    for feature in FEATURES:
        server.add(KINDS, *(feature.part(kind) for kind in feature.kinds))
        server.add(KINDS, *(of.kind for of in _resources(feature) if isinstance(of, RequestResource)))
    for feature in FEATURES:
        feature.register(server)
