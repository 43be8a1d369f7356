"""Web pages: search, entries, and the layout of every page."""

from ._access import PageAccess
from ._additions import (
    ENTRY_BARS,
    ENTRY_PARTS,
    KEY_PARTS,
    RESULT_PARTS,
    EntryBar,
    EntryPart,
    Extension,
    KeyPart,
    KeyPartValues,
    read_key_parts,
)
from ._assets import OWN, Assets, Brand
from ._assets import PATH as ASSETS_PATH
from ._assets import POLICY as ASSET_POLICY
from ._cards import owner, search_url
from ._entry_page import ENTRY_LINKS, EntryLink, EntryPage, SimilarServers
from ._filters import link, plain
from ._layout import ENTRY_IMAGE, Address, Layout, preload
from ._notifications import STREAMS, AnonymousOwners, NewEntriesNotifier, PageHandlers
from ._publisher_page import PublisherPage
from ._readme import Readmes
from ._search import SearchPage, search_words
