"""The operator pages, and what they show of the process."""

from __future__ import annotations

from collections.abc import Sequence

from .. import http
from ..storage import place
from ..web import admin
from ..web.parts import Kernel
from ._core import Core
from ._features import web_parts
from ._publishers import Publishers


def build_admin_pages(
    core: Core,
    publishers: Publishers,
    kernel: Kernel,
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
        kernel.operators,
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
        storage.publication_log,
        storage.mirrors,
        [notice for part in web_parts() for notice in part.notices(kernel)],
    )
