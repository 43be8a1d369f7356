"""The web part of curation: routes, handlers, tab, and the bar on the page of an entry."""

from __future__ import annotations

from ...web.pages import EntryBar, Extension
from ...web.parts import Endpoints, Kernel, WebPart
from ...web.routes import PAGES, Route
from .entry_pages import ENTRIES, ENTRY, CurationBar, EntryPages

NAME = "curation"


def _serve(kernel: Kernel) -> Endpoints:
    storage = kernel.storage
    pages = EntryPages(
        kernel.operators.of_folder(NAME),
        curation=storage.curation,
        store=storage.store,
        directory=kernel.directory,
        bus=kernel.bus,
    )
    bar = CurationBar(kernel.operators.cookies, storage.curation)
    return Endpoints({"curation": pages}, entry_bars=[EntryBar(f"{NAME}/bar.html", bar.read)])


PART = WebPart(
    routes=(
        Route(ENTRIES, "GET", PAGES, "curation.get"),
        Route(ENTRY, "GET", PAGES, "curation.get_one"),
        Route(f"{ENTRY}/mark", "POST", PAGES, "curation.mark"),
        Route(f"{ENTRY}/edit", "POST", PAGES, "curation.edit"),
        Route(f"{ENTRY}/disown", "GET", PAGES, "curation.get_disown"),
        Route(f"{ENTRY}/disown", "POST", PAGES, "curation.disown"),
    ),
    serve=_serve,
    extension=Extension(NAME, "directory_server.features.curation", tabs=((ENTRIES, f"{NAME}.curation"),)),
)
