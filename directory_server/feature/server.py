"""A server, while it is composed and while it runs: the record on which features register."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field
from twisted.application.service import IService

from ..domain.ports.points import Point, Points
from ..domain.ports.tracing import TRACE, Trace

if TYPE_CHECKING:
    from ..config import Config
    from ..domain.ports.runtime import Bus, Offload
    from ..http.proxies import Proxies
    from ..services.catalogue import Catalogue
    from ..services.directory import Directory
    from ..services.known_notes import KnownNotes
    from ..tables import Storage
    from ..web.authentication import Authenticator
    from ..web.operator_requests import OperatorRequests
    from ..web.pages import Layout, PageAccess
    from ..web.registry import RegistryAccess
    from ..web.throttling import AddressLimiter

SERVICES = Point[IService]()
"""What runs in the background."""

LOADS = Point[Callable[[], Awaitable[None]]]()
"""Read what the first requests need."""

WRITES = Point[Callable[[], Awaitable[None]]]()
"""Write what the last requests have left."""

FAULTS = Point[Callable[[], Mapping[str, int]]]()
"""Return numbers of what does not work, by name, from memory."""


@define(eq=False)
class Server(Points):
    """The parts of a server. Features use them, and add their own by points (`domain.ports.points`).

    `now` returns seconds since the epoch. `bus` announces changes of entries. `metrics` is the registry of collectors
    of prometheus-client. `replaced` has the parts of features that tests replace, by name. `notes` are those on entries
    in memory.

    The other parts are there for handlers. `catalogue` has the entries that a request may see. `directory` and the
    store have all entries: they are for operators, publishers and background work. `authenticator` authenticates by API
    keys. `failed_keys` limits requests with unknown secrets, `registry_reads` requests of the registry API, both by
    address. `registry_access` authenticates clients of the registry API. `openapi` is the OpenAPI document.
    """

    config: Config
    storage: Storage
    reactor: Any
    now: Callable[[], float]
    offload: Offload
    bus: Bus
    metrics: Any
    replaced: Mapping[str, Any]
    notes: KnownNotes = field(init=False)
    proxies: Proxies = field(init=False)
    catalogue: Catalogue = field(init=False)
    directory: Directory = field(init=False)
    layout: Layout = field(init=False)
    access: PageAccess = field(init=False)
    operators: OperatorRequests = field(init=False)
    authenticator: Authenticator = field(init=False)
    failed_keys: AddressLimiter = field(init=False)
    registry_reads: AddressLimiter = field(init=False)
    registry_access: RegistryAccess = field(init=False)
    openapi: bytes = field(init=False)

    @property
    def trace(self) -> Trace:
        """Wraps what is traced."""
        return self.get(TRACE)
