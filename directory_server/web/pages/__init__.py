"""Web pages: search, entries, and the layout of every page."""

from ._access import PageAccess
from ._assets import PATH as ASSETS_PATH
from ._assets import Assets
from ._layout import Layout, Viewer
from ._notifications import STREAMS, AnonymousOwners
from ._pages import PageHandlers, page_handlers
from ._reports import ReportPages
from ._search import SearchPage

__all__ = [
    "ASSETS_PATH",
    "STREAMS",
    "AnonymousOwners",
    "Assets",
    "Layout",
    "PageAccess",
    "PageHandlers",
    "ReportPages",
    "SearchPage",
    "Viewer",
    "page_handlers",
]
