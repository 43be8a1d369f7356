"""Static files of the package, served at paths that contain a digest of their content."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files

from attrs import frozen

from ...domain.errors import NotFound
from ...http import Request
from ..responses import accepts_gzip, gzip, json_response
from ._brand import MEDIA_TYPES, OWN, Brand

PATH = "/assets/"

CACHE_CONTROL = "public, max-age=31536000, immutable"
"""Cache policy of the files: one year, without revalidation."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""Content Security Policy of the files."""

_MEDIA_TYPES = {
    "style.css": "text/css",
    "script.js": "text/javascript",
    "account.js": "text/javascript",
    "icon.svg": "image/svg+xml",
    "icons.svg": "image/svg+xml",
    "card.png": "image/png",
}


@frozen
class Asset:
    """A static file: its media type and content. `compressed` is empty if the file is compressed already."""

    media_type: str
    body: bytes
    compressed: bytes


class Assets:
    """Serves the static files and the logo of `brand`, and maps their names to their paths.

    The style sheet ends with the colours of `brand`. Without a logo, the icon is it.
    """

    def __init__(self, brand: Brand = OWN) -> None:
        self._assets: dict[str, Asset] = {}
        self._names: dict[str, str] = {}
        for name, media_type in _MEDIA_TYPES.items():
            body = files(__package__).joinpath("static", name).read_bytes()
            self._add(name, media_type, body + brand.style.encode() if name == "style.css" else body)
        self._names["logo"] = self._names["icon.svg"]
        if brand.logo:
            name = f"logo.{brand.logo_suffix}"
            self._add(name, MEDIA_TYPES[brand.logo_suffix], brand.logo)
            self._names["logo"] = self._names[name]

    def _add(self, name: str, media_type: str, body: bytes) -> None:
        stem, _, suffix = name.rpartition(".")
        hashed = self._names[name] = f"{stem}.{sha256(body).hexdigest()[:12]}.{suffix}"
        self._assets[hashed] = Asset(media_type, body, gzip(body) if _is_text(media_type) else b"")

    def path(self, name: str) -> str:
        """Return the path of the file `name`. Raises KeyError."""
        return PATH + self._names[name]

    def get(self, request: Request, name: str) -> bytes:
        """Return a file. Its content never changes at this path. Raises NotFound."""
        asset = self._assets.get(name)
        if asset is None:
            raise NotFound("There is no such file.")
        request.setHeader("Cross-Origin-Resource-Policy", "same-origin")
        # An SVG that is opened by itself is a document: it runs no scripts and loads nothing.
        request.setHeader("Content-Security-Policy", POLICY)
        headers = {"Content-Type": asset.media_type, "Cache-Control": CACHE_CONTROL}
        if not asset.compressed:
            return json_response(request, asset.body, 200, **headers)
        headers |= {"Content-Type": f"{asset.media_type}; charset=utf-8", "Vary": "Accept-Encoding"}
        if not accepts_gzip(request):
            return json_response(request, asset.body, 200, **headers)
        return json_response(request, asset.compressed, 200, **headers, **{"Content-Encoding": "gzip"})


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith("xml")
