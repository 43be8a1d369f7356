"""The pages for people: search, entries, and the frame around every page."""

from ._assets import PATH as ASSETS_PATH
from ._assets import Assets
from ._frame import Frame, Viewer, wants_page
from ._news import STREAMS, Visitors
from ._pages import Pages, front

__all__ = ["ASSETS_PATH", "STREAMS", "Assets", "Frame", "Pages", "Viewer", "Visitors", "front", "wants_page"]
