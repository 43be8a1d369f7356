"""Static files of the package, served at paths that contain a digest of their content."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files

from attrs import frozen

from ...domain.errors import NotFound
from ...http import Request
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
    """A static file: its media type and content."""

    media_type: str
    body: bytes


class Assets:
    """Serves the static files and maps their names to their paths."""

    def __init__(self) -> None:
        self._assets: dict[str, Asset] = {}
        self._names: dict[str, str] = {}
        for name, media_type in _MEDIA_TYPES.items():
            body = files(__package__).joinpath("static", name).read_bytes()
            stem, _, suffix = name.rpartition(".")
            hashed = self._names[name] = f"{stem}.{sha256(body).hexdigest()[:12]}.{suffix}"
            self._assets[hashed] = Asset(media_type, body)

    def path(self, name: str) -> str:
        """Return the path of the file `name`. Raises KeyError."""
        return PATH + self._names[name]

    def get(self, request: Request, name: str) -> bytes:
        """Return a file. Its content never changes at this path. Raises NotFound."""
        asset = self._assets.get(name)
        if asset is None:
            raise NotFound("There is no such file.")
        request.setHeader("Cross-Origin-Resource-Policy", "same-origin")
        is_text = asset.media_type.startswith("text/") or asset.media_type.endswith("xml")
        content_type = f"{asset.media_type}; charset=utf-8" if is_text else asset.media_type
        return json_response(request, asset.body, 200, **{"Content-Type": content_type, "Cache-Control": CACHE_CONTROL})
