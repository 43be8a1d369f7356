"""What all features add to a server."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TypeVar

from attrs import evolve

from ..feature import Host, Running
from ..features import FEATURES
from ..web.pages import Extension
from ..web.parts import WebPart
from ..web.resource_pages import with_resources

T = TypeVar("T")


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


def run_features(host: Host) -> tuple[Running, ...]:
    """Return what the features do in a server, without those that do nothing: each costs time at each request."""
    features = []
    for feature in FEATURES:
        running = feature.running(host)
        if running.trace is not None:
            host = evolve(host, trace=running.trace)
        if running != Running():
            features.append(running)
    return tuple(features)


def first(parts: Iterable[T | None]) -> T | None:
    """Return the part of the first feature that has it, None if none has."""
    return next((part for part in parts if part is not None), None)
