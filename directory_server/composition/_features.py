"""What all features add to a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ..config import Config
from ..domain.ports.audit import AuditTrail
from ..domain.ports.search import LikenessSource
from ..feature import Host, Running
from ..features import FEATURES
from ..web.authentication import AccessTokens
from ..web.openapi import OpenApiPart
from ..web.operator_requests import ReadNotice
from ..web.pages import EntryImage, Extension, KeyPart, no_image
from ..web.parts import Endpoints, RobotsLines, WebPart
from ..web.routes import ROUTES, Route


@cache
def web_parts() -> tuple[WebPart, ...]:
    """Return the web parts of all features."""
    return tuple(feature.part(feature.web) for feature in FEATURES if feature.web)


@cache
def all_routes() -> tuple[Route, ...]:
    """Return the rows of the kernel and of all features."""
    return (*ROUTES, *(route for part in web_parts() for route in part.routes))


def public_paths() -> list[str]:
    """Return the paths of the public pages of all features."""
    return [path for part in web_parts() for path in part.public_paths()]


def robots_lines(config: Config) -> tuple[RobotsLines, ...]:
    """Return the lines of robots.txt of all features."""
    return tuple(part.robots(config) for part in web_parts())


def extensions() -> tuple[Extension, ...]:
    """Return what all features add to the pages."""
    return tuple(part.extension for part in web_parts() if part.extension is not None)


def openapi_parts() -> tuple[OpenApiPart, ...]:
    """Return what all features add to the OpenAPI document."""
    return tuple(part.openapi for part in web_parts())


def notices() -> tuple[ReadNotice, ...]:
    """Return what reads the notices of all features."""
    return tuple(notice for part in web_parts() for notice in part.notices)


def key_parts() -> tuple[KeyPart, ...]:
    """Return what all features show of keys."""
    return tuple(key_part for part in web_parts() for key_part in part.key_parts)


def run_features(host: Host) -> tuple[Running, ...]:
    """Return what the features do in a server, without those that do nothing: each costs time at each request."""
    running = (feature.running(host) for feature in FEATURES)
    return tuple(feature for feature in running if feature != Running())


def likeness_source(running: Sequence[Running]) -> LikenessSource | None:
    """Return the likeness of the first feature that has one."""
    return next((feature.likeness for feature in running if feature.likeness is not None), None)


def entry_image(running: Sequence[Running]) -> EntryImage:
    """Return the images of entries of the first feature that has them."""
    return next((feature.entry_image for feature in running if feature.entry_image is not None), no_image)


def access_tokens(running: Sequence[Running]) -> AccessTokens | None:
    """Return the access tokens of the first feature that has some."""
    return next((feature.access_tokens for feature in running if feature.access_tokens is not None), None)


def oauth_hint(endpoints: Sequence[Endpoints]) -> str:
    """Return the first hint of a feature for clients that look for OAuth documents."""
    return next((served.oauth_hint for served in endpoints if served.oauth_hint), "")


def audit_trail(running: Sequence[Running]) -> AuditTrail | None:
    """Return the audit log of the first feature that has one."""
    return next((feature.trail for feature in running if feature.trail is not None), None)


def open_observer(running: Sequence[Running]) -> Callable[[str], None]:
    """Return a function that tells all features of an entry that was opened."""

    def opened(mcp_id: str) -> None:
        for feature in running:
            feature.opened(mcp_id)

    return opened


def search_observer(running: Sequence[Running]) -> Callable[[str, str, str, bool], None]:
    """Return a function that tells all features of a search."""

    def searched(api: str, client: str, keywords: str, has_hits: bool) -> None:
        for feature in running:
            feature.searched(api, client, keywords, has_hits)

    return searched
