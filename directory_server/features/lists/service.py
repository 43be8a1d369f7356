"""Lists in a server: the scopes of requests, and the keeper of the entries of lists."""

from __future__ import annotations

from ...domain.ports.access import SCOPES
from ...domain.ports.requests import MAIL
from ...feature.server import SERVICES, Server
from ...search import percolate
from .approvers import Approvers
from .keeper import Keeper
from .notices import RequestMails
from .request_tables import ListRequests
from .scopes import ReaderScopes
from .tables import Lists


def run(server: Server) -> None:
    """Add what decides the scopes of requests, and what keeps the entries of lists."""
    storage = server.storage
    mails = RequestMails(storage, Approvers(storage.background_tables, storage), server.get(MAIL))
    keeper = Keeper(
        lists=Lists(storage.background_tables),
        matching=percolate,
        offload=server.offload,
        requests=ListRequests(storage.background_tables),
        tell=mails.tell_waiting,
        now=server.now,
    )
    server.add(SERVICES, keeper.follower(storage, server.reactor, server.bus.announce))
    server.set(SCOPES, ReaderScopes(storage.tables, server.now))
