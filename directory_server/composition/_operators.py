"""The operator pages, and what they show of the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import http
from ..storage import place
from ..web import admin
from ..web.parts import Kernel
from ._core import Core
from ._publishers import Publishers


def operator_handlers(
    core: Core,
    publishers: Publishers,
    kernel: Kernel,
    connections: http.Connections,
    upstreams: Sequence[admin.Upstream],
    notices: Sequence[admin.ReadNotice],
) -> Mapping[str, object]:
    """Return the handlers of the operator pages. `notices` are shown on the overview."""
    storage, requests, now = core.storage, kernel.operators, core.runtime.now

    def numbers() -> dict[str, int]:
        return {
            "entries": len(core.search.index),
            "streams": len(publishers.hub),
            "page_streams": len(publishers.page_hub),
            "connections": len(connections),
        }

    return {
        "admin_server": admin.ServerPages(
            requests,
            server=admin.Server(now(), numbers, place(core.config), upstreams),
            roster=storage.roster,
            mirrors=storage.mirrors,
            now=now,
            notices=notices,
        ),
        "admin_accounts": admin.AccountPages(requests, accounts=storage.accounts, roster=storage.roster, now=now),
        "admin_keys": admin.KeyPages(requests, keys=storage.keys, roster=storage.roster, quota=storage.quota, now=now),
        "admin_entries": admin.EntryPages(
            requests,
            curation=storage.curation,
            store=storage.store,
            directory=core.search.directory,
            bus=core.serving.bus,
        ),
    }
