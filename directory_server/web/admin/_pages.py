"""Composition of the operator pages."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from ...domain.ports.access import KeyRing, PublicationLog, Quota
from ...domain.ports.accounts import Accounts
from ...domain.ports.reports import Reports
from ...domain.ports.roster import Roster
from ...domain.ports.runtime import Bus
from ...domain.ports.statistics import Statistics
from ...domain.ports.storage import Curation, Mirrors, Store
from ...services.directory import Directory
from ..account import PageLayout, SessionCookies
from ._account_pages import AccountPages
from ._entry_pages import EntryPages
from ._key_pages import KeyPages
from ._publication_pages import PublicationPages
from ._report_pages import ReportPages
from ._requests import OperatorRequests
from ._server_pages import Server, ServerPages
from ._usage_pages import UsagePages


@frozen
class AdminPages:
    """The handlers of the operator pages."""

    server: ServerPages
    accounts: AccountPages
    keys: KeyPages
    entries: EntryPages
    usage: UsagePages
    reports: ReportPages
    publications: PublicationPages


def admin_pages(
    layout: PageLayout,
    cookies: SessionCookies,
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
    statistics: Statistics,
    days: int,
    query_days: int,
    reports: Reports,
    publications: PublicationLog,
    mirrors: Mirrors,
) -> AdminPages:
    """Return the operator pages. `now` returns seconds since the epoch.

    Numbers of usage are stored for `days` days, texts of searches for `query_days` days.
    """
    requests = OperatorRequests(cookies, layout, "admin")
    return AdminPages(
        ServerPages(requests, server, roster, reports, mirrors, now),
        AccountPages(requests, accounts, roster, now),
        KeyPages(requests, keys, roster, quota, now),
        EntryPages(requests, curation, store, directory, bus),
        UsagePages(requests, statistics, now, days, query_days),
        ReportPages(requests, reports, now),
        PublicationPages(requests, publications),
    )
