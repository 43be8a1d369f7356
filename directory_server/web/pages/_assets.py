"""Static files of the package, at paths with a digest of their content, and the colours and logo of the operator."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from itertools import count
from pathlib import Path

from attrs import frozen

from ...domain.errors import NotFound
from ...http import Request
from ..responses import accepts_gzip, gzip, json_response

MAX_LOGO = 262_144
"""Bytes of a logo."""

CONTRAST = 4.5
"""The least contrast of text and its background (WCAG 2.2, 1.4.3)."""

_GROUNDS = {"light": (238, 240, 237), "dark": (42, 53, 59)}
"""The background with the least contrast of each scheme: `--sunken` in style.css, and a lighter one for dark."""

_SIGNATURES = {"png": b"\x89PNG\r\n\x1a\n", "jpg": b"\xff\xd8\xff", "svg": b"<svg"}

MEDIA_TYPES = {"png": "image/png", "jpg": "image/jpeg", "svg": "image/svg+xml", "webp": "image/webp"}
"""The media types of logos by the suffix of their path."""

Color = tuple[int, int, int]


@frozen
class Brand:
    """The name, the sentence, the logo with its suffix, and the accent colour (#rrggbb); empty ones are our own."""

    name: str = ""
    about: str = ""
    logo: bytes = b""
    logo_suffix: str = ""
    accent: str = ""

    @classmethod
    def of(cls, name: str, about: str, logo: str, accent: str) -> Brand:
        """Return the brand with the logo in the file `logo`, if not empty. Raises ValueError, OSError."""
        body, suffix = _read_logo(Path(logo)) if logo else (b"", "")
        return cls(name, about, body, suffix, accent)

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts that replace those of all languages. Braces are no placeholders."""
        given = {"site.name": self.name, "site.about": self.about}
        return {key: text.replace("{", "{{").replace("}", "}}") for key, text in given.items() if text}

    @property
    def style(self) -> str:
        """The style sheet of the accent colour, empty without one."""
        if not self.accent:
            return ""
        color = _color(self.accent)
        light, dark = _tokens(color, "light", (0, 0, 0), "#fff"), _tokens(color, "dark", (255, 255, 255), "#0b0f11")
        return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


OWN = Brand()
"""The look of a directory whose operator sets nothing."""


def _read_logo(path: Path) -> tuple[bytes, str]:
    """Return the content of a logo and its suffix. Raises ValueError, OSError."""
    with path.open("rb") as file:
        body = file.read(MAX_LOGO + 1)
    if len(body) > MAX_LOGO:
        raise ValueError(f"The logo {path} must have at most {MAX_LOGO:,} bytes.")
    start = body.lstrip(b"\xef\xbb\xbf \r\n\t")
    suffix = next((suffix for suffix, signature in _SIGNATURES.items() if start.startswith(signature)), "")
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        suffix = "webp"
    elif start.startswith((b"<?xml", b"<!--")) and b"<svg" in start[:2_000]:
        suffix = "svg"
    if not suffix:
        raise ValueError(f"The logo {path} must be a PNG, JPEG, WebP or SVG image.")
    return body, suffix


def _tokens(color: Color, scheme: str, toward: Color, on_accent: str) -> str:
    """Return the tokens of a scheme: the accent is moved `toward` a colour until text in it can be read."""
    ground = _GROUNDS[scheme]
    for step in count():
        accent = _mix(color, toward, step / 25)
        tint = _mix(ground, accent, 0.12)
        if min(_contrast(accent, ground), _contrast(accent, tint)) >= CONTRAST:
            break
    return f"--accent: {_hex(accent)}; --on-accent: {on_accent}; --tint: {_hex(tint)};"


def _color(text: str) -> Color:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _hex(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def _mix(one: Color, other: Color, share: float) -> Color:
    """Return `one` with a `share` of `other`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _contrast(one: Color, other: Color) -> float:
    """Return the contrast of two colours (WCAG 2.2, contrast ratio)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (_linear(part / 255) for part in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return float(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)


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
