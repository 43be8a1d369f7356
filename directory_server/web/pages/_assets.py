"""Style, script and icon: files of the package, each at a path that changes when the file does."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files

from attrs import frozen

from ...domain.errors import NotFound
from ...http import Request
from ..responses import json_response

PATH = "/assets/"

KEPT = "public, max-age=31536000, immutable"
"""How long browsers keep a file: a year, which is for good."""

_KINDS = {
    "style.css": "text/css",
    "script.js": "text/javascript",
    "account.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


@frozen
class Asset:
    """A file that browsers fetch: its media type and what is in it."""

    kind: str
    body: bytes


class Assets:
    """Knows the files by the names that they have in the package, and answers those that they have on the pages."""

    def __init__(self) -> None:
        self._assets: dict[str, Asset] = {}
        self._names: dict[str, str] = {}
        for name, kind in _KINDS.items():
            body = files(__package__).joinpath("static", name).read_bytes()
            stem, _, suffix = name.rpartition(".")
            hashed = self._names[name] = f"{stem}.{sha256(body).hexdigest()[:12]}.{suffix}"
            self._assets[hashed] = Asset(kind, body)

    def path(self, name: str) -> str:
        """Return the path at which a file is. Raises KeyError."""
        return PATH + self._names[name]

    def get(self, request: Request, name: str) -> bytes:
        """Answer a file, which never changes under its name. Raises NotFound."""
        asset = self._assets.get(name)
        if asset is None:
            raise NotFound("There is no such file.")
        request.setHeader("Cross-Origin-Resource-Policy", "same-origin")
        kind = f"{asset.kind}; charset=utf-8"
        return json_response(request, asset.body, 200, **{"Content-Type": kind, "Cache-Control": KEPT})
