"""Web pages: search, entries, and the layout of every page."""

from ._access import PageAccess
from ._assets import PATH as ASSETS_PATH
from ._assets import Assets
from ._entry_page import EntryLink, EntryPage
from ._extension import Extension
from ._feeds import Feeds
from ._filters import plain
from ._install import OptionView, editor_views
from ._layout import Address, Layout, Viewer
from ._notifications import STREAMS, AnonymousOwners
from ._pages import PageHandlers, page_handlers, preload
from ._parameters import page_parameters
from ._readme import Readmes
from ._search import SearchPage
from ._site_files import SiteFiles
from ._sitemap import Sitemap
from ._verification import EntryChecks

__all__ = [
    "ASSETS_PATH",
    "STREAMS",
    "Address",
    "AnonymousOwners",
    "Assets",
    "EntryChecks",
    "EntryLink",
    "EntryPage",
    "Extension",
    "Feeds",
    "Layout",
    "OptionView",
    "PageAccess",
    "PageHandlers",
    "Readmes",
    "SearchPage",
    "SiteFiles",
    "Sitemap",
    "Viewer",
    "editor_views",
    "page_handlers",
    "page_parameters",
    "plain",
    "preload",
]
