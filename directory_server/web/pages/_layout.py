"""What all pages have in common: the head of the answer, the language, and the layout around each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode

from attrs import frozen
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from ...http import Request
from ...http.errors import ErrorResponse
from ...http.headers import cookie, query, values
from ...http.proxies import Proxies
from ..responses import json_response
from ._assets import Assets
from ._filters import FILTERS
from ._translations import LANGUAGES, Translations, choose, load

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
"""What a page may load, and from where (Content Security Policy, level 3)."""

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    # Not no-referrer: with that browsers send forms from the origin "null", which nobody could let in.
    "Referrer-Policy": "same-origin",
    "Vary": "Accept, Accept-Language, Cookie",
    "X-Frame-Options": "DENY",
}
"""What the answer of every page says."""

_COOKIE = "lang"
_YEAR = 31_536_000


class Viewer(Protocol):
    """One who is signed in."""

    @property
    def email(self) -> str:
        """The address of the account."""


@frozen
class Language:
    """A language to change to: its tag, its own name, and where the page is in it."""

    tag: str
    name: str
    href: str
    current: bool


class Layout:
    """Makes pages of templates, each with a way to the search, if there is one, and to `sign_in`, if that is a path.

    Pages that are sent under TLS, as `proxies` tell it, have browsers insist on it for `hsts` seconds; 0 is for none.
    """

    def __init__(self, proxies: Proxies, *, searchable: bool = True, sign_in: str = "", hsts: int = 0) -> None:
        self._proxies = proxies
        # RFC 6797, section 6.1.
        self._hsts = {"Strict-Transport-Security": f"max-age={hsts}"} if hsts else {}
        self._texts = load()
        self.assets, self._templates = _compiled(searchable, sign_in)

    def page(
        self,
        request: Request,
        template: str,
        values: Mapping[str, Any],
        *,
        account: Viewer | None = None,
        status: int = 200,
    ) -> bytes:
        """Set the head of an answer that no cache keeps, and return the page that `template` makes of `values`."""
        texts = self.texts(request)
        body = self._templates[template].render(
            t=texts,
            path=request.path.decode("latin-1"),
            languages=_languages(request, texts.language),
            account=account,
            **values,
        )
        # Names may hold halves of characters, which UTF-8 cannot.
        # Browsers ignore it in an answer without TLS, and servers must not send it there (RFC 6797, section 7.2).
        secure = self._hsts if self._hsts and self._proxies.is_secure(request) else {}
        return json_response(request, body.encode("utf-8", "replace"), status, **HEADERS, **secure)

    def refuse(self, request: Request, refused: ErrorResponse) -> bytes:
        """Answer a refusal with a page that says what is wrong; `page` says how."""
        for name, text in refused.headers.items():
            request.setHeader(name, text)
        return self.page(request, "error.html", {"refused": refused}, status=refused.status)

    def texts(self, request: Request) -> Translations:
        """Return the words in the language that a request asks for: in its URL, by its cookie or by its header."""
        asked = dict(_parameters(request)).get("lang")
        if asked in LANGUAGES:
            request.addCookie(_COOKIE, asked, path="/", max_age=str(_YEAR), httpOnly=True, sameSite="lax")
            return self._texts[asked]
        chosen = cookie(request, _COOKIE)
        return self._texts[chosen if chosen in LANGUAGES else choose(", ".join(values(request, "Accept-Language")))]


@cache
def _compiled(searchable: bool, sign_in: str) -> tuple[Assets, Mapping[str, Template]]:
    """Return the files and templates of a frame: reading them takes a tenth of a second."""
    assets = Assets()
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(asset=assets.path, searchable=searchable, sign_in=sign_in)
    return assets, {name: environment.get_template(name) for name in environment.list_templates(["html"])}


def _parameters(request: Request) -> list[tuple[str, str]]:
    return parse_qsl(query(request).decode("latin-1"), keep_blank_values=True, max_num_fields=None)


def _languages(request: Request, current: str) -> list[Language]:
    """Return where this page is in each language: nowhere for the answer to a form, which may show a key but once."""
    if request.method == b"POST":
        return []
    others = [(name, value) for name, value in _parameters(request) if name != "lang"]
    return [
        # A relative reference: it leads to the same path, whatever that is.
        Language(tag, name, "?" + urlencode([*others, ("lang", tag)]), tag == current)
        for tag, name in LANGUAGES.items()
    ]
