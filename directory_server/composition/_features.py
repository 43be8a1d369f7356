"""What all features add to a server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

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
    return tuple(map(_web_part, FEATURES))


def _web_part(feature: Feature) -> WebPart:
    part, resources = feature.part(feature.web) or WebPart(), _resources(feature)
    return with_forms(with_resources(part, resources), resources)


def _resources(feature: Feature) -> Sequence[Resource]:
    return [feature.part(resource) for resource in feature.resources]


@cache
def extensions() -> tuple[Extension, ...]:
    """Return what all features with texts add to the pages."""
    return tuple(
        Extension(feature.folder, feature.package, part.tabs, part.account_tabs, part.head_parts, part.list_parts)
        for feature, part in zip(FEATURES, web_parts(), strict=True)
        if files(feature.package).joinpath("texts.toml").is_file()
    )


def register_features(server: Server) -> None:
    """Add what all features do in a server."""
    for feature in FEATURES:
        server.add(KINDS, *(feature.part(kind) for kind in feature.kinds))
        server.add(KINDS, *(resource.kind for resource in _resources(feature) if isinstance(resource, RequestResource)))
    for feature in FEATURES:
        feature.register(server)
