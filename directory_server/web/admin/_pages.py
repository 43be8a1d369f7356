"""Composition of the operator pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from ...domain.ports.access import KeyRing, PublicationLog, Quota
from ...domain.ports.accounts import Accounts
from ...domain.ports.roster import Roster
from ...domain.ports.runtime import Bus
from ...domain.ports.storage import Curation, Mirrors, Store
from ...services.directory import Directory
from ._account_pages import AccountPages
from ._entry_pages import EntryPages
from ._key_pages import KeyPages
from ._publication_pages import PublicationPages
from ._requests import OperatorRequests
from ._server_pages import ReadNotice, Server, ServerPages


@frozen
class AdminPages:
    """The handlers of the operator pages."""

    server: ServerPages
    accounts: AccountPages
    keys: KeyPages
    entries: EntryPages
    publications: PublicationPages


def admin_pages(
    requests: OperatorRequests,
    accounts: Accounts,
    keys: KeyRing,
    quota: Quota,
    roster: Roster,
    curation: Curation,
    store: Store,
    directory: Directory,
    bus: Bus,
    server: Server,
    now: Callable[[], float],
    publications: PublicationLog,
    mirrors: Mirrors,
    notices: Sequence[ReadNotice],
) -> AdminPages:
    """Return the operator pages. `now` returns seconds since the epoch."""
    return AdminPages(
        ServerPages(requests, server, roster, mirrors, now, notices),
        AccountPages(requests, accounts, roster, now),
        KeyPages(requests, keys, roster, quota, now),
        EntryPages(requests, curation, store, directory, bus),
        PublicationPages(requests, publications),
    )
