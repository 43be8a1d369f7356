"""The operator pages, and what they show of the process."""

from __future__ import annotations

from collections.abc import Sequence

from .. import http
from ..storage import place
from ..web import account, admin
from ._core import Core
from ._publishers import Publishers


def build_admin_pages(
    core: Core,
    publishers: Publishers,
    layout: account.PageLayout,
    cookies: account.SessionCookies,
    connections: http.Connections,
    upstreams: Sequence[admin.Upstream],
) -> admin.AdminPages:
    """Return the operator pages."""
    storage = core.storage

    def numbers() -> dict[str, int]:
        return {
            "entries": len(core.search.index),
            "streams": len(publishers.hub),
            "page_streams": len(publishers.page_hub),
            "connections": len(connections),
        }

    return admin.admin_pages(
        layout,
        cookies,
        storage.accounts,
        storage.keys,
        storage.quota,
        storage.roster,
        storage.curation,
        storage.store,
        core.search.directory,
        core.serving.bus,
        admin.Server(core.runtime.now(), numbers, place(core.config), upstreams),
        core.runtime.now,
        storage.statistics,
        core.config.statistics.days,
        core.config.statistics.queries,
        storage.reports,
        storage.publication_log,
        storage.mirrors,
    )
