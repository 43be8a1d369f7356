"""What a feature adds to the web server: rows of the routing table, handlers, texts, templates and links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from attrs import frozen

from ..domain.ports.points import Point, Single
from ..domain.upstreams import UpstreamState
from ..web.openapi import OpenApiPart
from .server import Server

NO_OPENAPI = OpenApiPart()


class Upstream(Protocol):
    """An upstream that this process follows."""

    @property
    def state(self) -> UpstreamState:
        """The state of the upstream at the last check."""

    @property
    def is_syncing(self) -> bool:
        """Whether this process runs a sync run."""

    def sync_now(self) -> bool:
        """Start a sync run; return whether one was started."""


@frozen
class RobotsLines:
    """Lines of robots.txt: paths that robots may read whatever the pages allow, and documents by the field with a URL.

    `documents` are pairs of the name of a field, such as Sitemap, and a path.
    """

    allowed: Sequence[str] = ()
    documents: Sequence[tuple[str, str]] = ()


UPSTREAMS = Point[Upstream]()
"""The upstreams that this process follows."""

ROBOTS = Point[RobotsLines]()
"""Lines of robots.txt."""

PUBLIC_PATHS = Point[Callable[[], Sequence[str]]]()
"""Return the paths of pages that search engines may list."""

NUMBERS = Single[Callable[[], Mapping[str, int]]](dict)
"""Returns numbers of this process by name: entries, streams and connections."""


@frozen
class WebPart:
    """The web part of a feature.

    `serve` adds its handlers, and what else needs a server. `openapi` is added to the OpenAPI document. The others are
    those of an `Extension` of the pages, which a feature with texts has.
    """

    serve: Callable[[Server], None] = lambda server: None
    openapi: OpenApiPart = NO_OPENAPI
    tabs: tuple[tuple[str, str, str], ...] = ()
    account_tabs: tuple[tuple[str, str], ...] = ()
    head_parts: tuple[str, ...] = ()
    list_parts: tuple[str, ...] = ()
