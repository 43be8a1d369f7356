"""What a feature adds to the web server: handlers, texts, templates and links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from attrs import frozen

from ..config import Config
from ..domain.ports.access import TokenIssuer
from ..domain.ports.runtime import Bus, Offload
from ..domain.ports.tracing import Trace
from ..domain.upstreams import UpstreamState
from ..http.proxies import Proxies
from ..services.catalogue import Catalogue
from ..services.directory import Directory
from ..tables import Storage
from .account import SignInMethod
from .authentication import Authenticator
from .openapi import OpenApiPart
from .operator_requests import OperatorRequests, ReadNotice
from .pages import EntryBar, EntryLink, Extension, KeyPart, Layout, PageAccess
from .registry import RegistryAccess, RegistryReaders
from .routes import App
from .throttling import AddressLimiter

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


@frozen
class Kernel:
    """The parts of a server that the handlers of features use.

    `replaced` has the parts of features that tests replace, by name. `trace` wraps what is traced.
    `catalogue` has the entries that a request may see. `directory` and the store have all entries: they are for
    operators, publishers and background work.
    `authenticator` authenticates by API keys. `storage` has the stored data. `now` returns seconds since the
    epoch. `failed_keys` limits requests with unknown secrets, `registry_reads` requests of the registry API, both by
    address. `registry_access` authenticates clients of the registry API. `reactor` runs delayed calls. `public_paths`
    returns the paths of the public pages of all features. `openapi` is the OpenAPI document. `bus` announces changes of
    entries. `numbers` returns numbers of this process by name: entries, streams and connections. `notices` read the
    notices of all features, and `key_parts` are what all features show of keys. `robots`
    are their lines of robots.txt.
    """

    config: Config
    replaced: Mapping[str, Any]
    trace: Trace
    authenticator: Authenticator
    storage: Storage
    catalogue: Catalogue
    directory: Directory
    proxies: Proxies
    reactor: Any
    now: Callable[[], float]
    offload: Offload
    layout: Layout
    access: PageAccess
    operators: OperatorRequests
    failed_keys: AddressLimiter
    registry_reads: AddressLimiter
    registry_access: RegistryAccess
    public_paths: Callable[[], Sequence[str]]
    openapi: bytes
    bus: Bus
    numbers: Callable[[], Mapping[str, int]]
    upstreams: Sequence[Upstream]
    notices: Sequence[ReadNotice]
    key_parts: Sequence[KeyPart]
    robots: Sequence[RobotsLines]


@frozen
class Endpoints:
    """What a feature serves.

    `apps` are the applications of its handlers, each bound to an object of its class. `entry_links` are links for the
    page of an entry, and `entry_bars` are bars above it. `registry_readers` may read the registry API in every mode.
    `issuers` are those whose tokens the feature accepts. `sign_in_methods` are on the sign-in page. `oauth_hint` is the
    text for clients that look for OAuth documents where there are none.
    """

    apps: Sequence[App] = ()
    entry_links: Sequence[EntryLink] = ()
    entry_bars: Sequence[EntryBar] = ()
    registry_readers: Sequence[RegistryReaders] = ()
    issuers: Sequence[TokenIssuer] = ()
    sign_in_methods: Sequence[SignInMethod] = ()
    oauth_hint: str = ""


@frozen
class WebPart:
    """The web part of a feature.

    `extension` adds templates, texts and links to the pages, if it has pages. `serve` has its handlers.
    `public_paths` returns the paths of pages that search engines may list. `robots` returns lines of robots.txt.
    `openapi` is added to the OpenAPI document. `notices` read the notices of the feature on the overview of operators.
    `key_parts` are what the feature shows of keys.
    """

    extension: Extension | None = None
    serve: Callable[[Kernel], Endpoints] = lambda kernel: Endpoints()
    public_paths: Callable[[], Sequence[str]] = tuple
    robots: Callable[[Config], RobotsLines] = lambda config: RobotsLines()
    openapi: OpenApiPart = NO_OPENAPI
    notices: tuple[ReadNotice, ...] = ()
    key_parts: tuple[KeyPart, ...] = ()
