"""What a feature adds to the web server: rows of the routing table, handlers, texts, templates and links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ..config import Config
from ..domain.ports.runtime import Offload
from ..http.proxies import Proxies
from ..services.directory import Directory
from .admin import OperatorRequests, ReadNotice
from .pages import EntryLink, Extension, Layout, PageAccess
from .routes import Route


@frozen
class Kernel:
    """The parts of a server that the handlers of features use.

    `storage` has the adapters of all ports. `now` returns seconds since the epoch. `public_paths` returns the paths of
    the public pages of all features.
    """

    config: Config
    storage: Any
    directory: Directory
    proxies: Proxies
    now: Callable[[], float]
    offload: Offload
    layout: Layout
    access: PageAccess
    operators: OperatorRequests
    public_paths: Callable[[], Sequence[str]]


def no_handlers(kernel: Kernel) -> Mapping[str, object]:
    """Return no handlers."""
    return {}


def no_links(config: Config) -> Sequence[EntryLink]:
    """Return no links for the page of an entry."""
    return ()


def no_paths() -> Sequence[str]:
    """Return no paths of pages."""
    return ()


def no_notices(kernel: Kernel) -> Sequence[ReadNotice]:
    """Return nothing for the overview of operators."""
    return ()


@frozen
class WebPart:
    """The web part of a feature.

    `handlers` returns the groups of handlers that the `routes` name. `extension` adds templates, texts and links to the
    pages. `entry_links` returns the links for the page of an entry.
    `public_paths` returns the paths of pages that search engines may list.
    `notices` returns functions that read the notices of the feature on the overview of operators.
    """

    extension: Extension
    routes: tuple[Route, ...] = ()
    handlers: Callable[[Kernel], Mapping[str, object]] = no_handlers
    entry_links: Callable[[Config], Sequence[EntryLink]] = no_links
    public_paths: Callable[[], Sequence[str]] = no_paths
    notices: Callable[[Kernel], Sequence[ReadNotice]] = no_notices
