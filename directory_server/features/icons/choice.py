"""The icon of an entry: which of the URLs in its document is used."""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.entries import Entry
from ...domain.errors import DirectoryError
from ...feature import Host, Running
from ...http_client import target_of

PATH = "/icons/"

MAX_ICONS = 8
"""Icons of a document that are looked at."""

_OTHER_TYPES = (".svg", ".ico")
"""Endings of files that are not served: an SVG is a document with links of its own, an ICO holds images of any size."""


def running(host: Host) -> Running:
    """Return what pages read of icons."""
    return Running(entry_image=image_path)


def image_path(entry: Entry) -> str:
    """Return the path at which this server serves the icon of an entry, empty if it has none."""
    return PATH + entry.mcp_id if icon_url(entry) else ""


def icon_url(entry: Entry) -> str:
    """Return the https URL of the first icon that may be a picture for light pages, empty if there is none.

    The form of `icons` is that of the server.json schema: objects with `src`, `mimeType`, `sizes` and `theme`.
    """
    icons = entry.server.get("icons")
    for icon in icons[:MAX_ICONS] if isinstance(icons, list) else ():
        if isinstance(icon, Mapping) and icon.get("theme") != "dark":
            url = icon.get("src")
            if isinstance(url, str) and url.startswith("https://") and icon.get("mimeType") != "image/svg+xml":
                picture = _picture_url(url)
                if picture:
                    return picture
    return ""


def _picture_url(url: str) -> str:
    """Return `url` with its host in ASCII, empty if it is invalid or the file is no picture."""
    try:
        target = target_of(url).url
    except DirectoryError:
        return ""
    return "" if target.partition("?")[0].lower().endswith(_OTHER_TYPES) else target
