"""The pages for people: search, entries, and the frame around every page."""

from ._assets import PATH as ASSETS_PATH
from ._assets import Assets
from ._frame import Frame, Viewer, wants_page

__all__ = ["ASSETS_PATH", "Assets", "Frame", "Viewer", "wants_page"]
