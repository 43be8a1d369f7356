"""Static files of the package, served at paths that contain a digest of their content."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files

from attrs import frozen

from ...domain.errors import NotFound
from ...http import Request
from ..compression import accepts_gzip, gzip
from ..responses import json_response

PATH = "/assets/"

CACHE_CONTROL = "public, max-age=31536000, immutable"
"""Cache policy of the files: one year, without revalidation."""

_MEDIA_TYPES = {
    "style.css": "text/css",
    "script.js": "text/javascript",
    "account.js": "text/javascript",
    "icon.svg": "image/svg+xml",
    "card.png": "image/png",
}


@frozen
class Asset:
    """A static file: its media type and content. `compressed` is empty if the file is compressed already."""

    media_type: str
    body: bytes
    compressed: bytes


class Assets:
    """Serves the static files and maps their names to their paths."""

    def __init__(self) -> None:
        self._assets: dict[str, Asset] = {}
        self._names: dict[str, str] = {}
        for name, media_type in _MEDIA_TYPES.items():
            body = files(__package__).joinpath("static", name).read_bytes()
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
        headers = {"Content-Type": asset.media_type, "Cache-Control": CACHE_CONTROL}
        if not asset.compressed:
            return json_response(request, asset.body, 200, **headers)
        headers |= {"Content-Type": f"{asset.media_type}; charset=utf-8", "Vary": "Accept-Encoding"}
        if not accepts_gzip(request):
            return json_response(request, asset.body, 200, **headers)
        return json_response(request, asset.compressed, 200, **headers, **{"Content-Encoding": "gzip"})


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith("xml")
