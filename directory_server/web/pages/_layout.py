"""Layout of all pages: response headers, language and templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

from attrs import frozen
from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from ...client_config import EDITORS
from ...domain.accounts import Account
from ...domain.entries import Entry
from ...domain.errors import without_keys
from ...domain.filters import without_filter
from ...domain.ports.points import Single
from ...domain.trust import listed_words, trust_words
from ...http import Request
from ...http.errors import ErrorResponse
from ...http.headers import cookie, query, values
from ...http.headers import value as header
from ...http.proxies import Proxies
from ..responses import compressed, json_response
from . import _cards, _commands, _entries, _facets, _filters, _install, _publishers, _readme_links
from ._access import AccessMode
from ._additions import GROUPS, Extension
from ._assets import Assets, Brand
from ._facets import OPEN, SHOWN
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
"""Content Security Policy of all pages (level 3)."""

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    # Not no-referrer: browsers would then send forms with the origin "null", which is rejected.
    "Referrer-Policy": "same-origin",
    "Vary": "Accept, Accept-Encoding, Accept-Language, Cookie",
    "X-Frame-Options": "DENY",
}
"""Response headers of every page."""

_COOKIE = "lang"
_YEAR = 31_536_000


@frozen
class Language:
    """An item of the language menu: tag, native name, URL of the page, and whether it is the current language."""

    tag: str
    name: str
    href: str
    current: bool


@frozen
class Address:
    """The canonical path of a page, with its query, and whether search engines may list the page.

    A page with an address has no form with a secret, unless its viewer is signed in.
    """

    path: str
    indexed: bool = False


EntryImage: TypeAlias = Callable[[Entry], str]
"""Returns the path of the image of an entry, empty if it has none."""


def no_image(entry: Entry) -> str:
    """Return an empty path: no entry has an image."""
    return ""


ENTRY_IMAGE = Single[EntryImage](no_image)
"""Returns the path of the image of an entry, empty if it has none."""


class Layout:
    """Renders pages, with links to the search (if `searchable`) and to the path `sign_in` (if not empty).

    Pages that everybody may read (`is_public`) have a link to their feed, others only for members. `url` is the public
    URL of the server without a slash at the end, or empty if it is not configured: then links to the server have no
    host. The Host header is no source of it, because clients write it. Responses over TLS have the header
    Strict-Transport-Security with a max-age of `hsts` seconds, unless that is 0. `extensions` add templates, texts and
    tabs. `entry_image` returns the path of the image of an entry, or an empty text. `may_be_signed_in` returns whether
    a request has the cookie of a session, which error pages do not look up. `brand` is how the operator presents the
    directory.
    """

    def __init__(
        self,
        proxies: Proxies,
        *,
        searchable: bool,
        is_public: bool,
        sign_in: str,
        may_be_signed_in: Callable[[Request], bool],
        hsts: int,
        url: str,
        extensions: tuple[Extension, ...],
        entry_image: EntryImage,
        brand: Brand,
    ) -> None:
        self._proxies = proxies
        self._may_be_signed_in = may_be_signed_in
        self._entry_image = entry_image
        self.url = url
        # RFC 6797, section 6.1.
        self._hsts = {"Strict-Transport-Security": f"max-age={hsts}"} if hsts else {}
        self._translations = load(extensions, brand)
        self.assets, self._templates = templates(searchable, is_public, sign_in, extensions, brand)

    def page(
        self,
        request: Request,
        template: str,
        values: Mapping[str, Any],
        *,
        account: Account | None = None,
        status: int = 200,
        address: Address | None = None,
    ) -> bytes:
        """Set the headers of an uncacheable response and return the body, rendered from `template` and `values`."""
        shown = address if status == 200 else None
        body = self.render(
            request,
            template,
            {
                "path": request.path.decode("latin-1"),
                "account": account,
                "canonical": self.url + shown.path if shown else "",
                "indexed": shown is not None and shown.indexed,
                **values,
            },
        )
        # Servers must not send it without TLS (RFC 6797, section 7.2).
        secure = self._hsts if self._hsts and self._proxies.is_secure(request) else {}
        response = json_response(request, body, status, **HEADERS, **secure)
        # Other pages have secrets: the tokens of forms, keys, the e-mail address of the viewer.
        return compressed(request, response) if address is not None and account is None else response

    def render(self, request: Request, template: str, values: Mapping[str, Any]) -> bytes:
        """Return the text of a template in the language of a request."""
        translations = self.translations(request)
        languages = _languages(request, translations.language)
        text = self._templates.get_template(template).render(
            t=translations, languages=languages, url=self.url, entry_image=self._entry_image, **values
        )
        # Names may contain surrogates, which UTF-8 cannot encode.
        return text.encode("utf-8", "replace")

    def fragment(self, template: str, values: Mapping[str, Any], texts: Translations) -> Markup:
        """Return the HTML of a part of a page."""
        return Markup(self._templates.get_template(template).render(t=texts, entry_image=self._entry_image, **values))

    def base_url(self, request: Request) -> str:
        """Return the URL of the server for the viewer: the public one if it is configured, else that of `request`."""
        scheme = "https" if self._proxies.is_secure(request) else "http"
        return self.url or f"{scheme}://{header(request, 'Host')}"

    def error_page(self, request: Request, error: ErrorResponse) -> bytes:
        for name, text in error.headers.items():
            request.setHeader(name, text)
        return self.page(
            request,
            "error.html",
            {"error_response": error, "may_be_signed_in": self._may_be_signed_in(request)},
            status=error.status,
        )

    def translations(self, request: Request) -> Translations:
        """Return the translations for a request, by its query string, its cookie or its Accept-Language header."""
        requested = dict(_parameters(request)).get("lang")
        if requested in LANGUAGES:
            request.add_cookie(_COOKIE, requested, max_age=_YEAR, secure=False)
            return self._translations[requested]
        chosen = cookie(request, _COOKIE)
        return self._translations[
            chosen if chosen in LANGUAGES else choose(", ".join(values(request, "Accept-Language")))
        ]


@cache
def templates(
    searchable: bool,
    is_public: bool,
    sign_in: str,
    extensions: tuple[Extension, ...],
    brand: Brand,
) -> tuple[Assets, Environment]:
    """Return the static files and the templates. All layouts share them."""
    assets = Assets(brand)
    environment = Environment(
        loader=ChoiceLoader(
            [
                PackageLoader(__package__, "templates"),
                PrefixLoader(
                    {
                        part.name: PackageLoader(part.package, "templates")
                        for part in extensions
                        if files(part.package).joinpath("templates").is_dir()
                    }
                ),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "sort_keys": True}
    environment.filters.update(_public_functions())
    environment.globals.update(
        editors=EDITORS, asset=assets.path, searchable=searchable, is_public=is_public, sign_in=sign_in
    )
    environment.globals.update(open_groups=OPEN, shown=SHOWN)
    environment.globals.update(
        account_tabs=[tab for part in extensions for tab in part.account_tabs],
        tab_groups=[
            (group, [tab[1:] for part in extensions for tab in part.tabs if tab[0] == group]) for group in GROUPS
        ],
        head_parts=[f"{part.name}/{name}" for part in extensions for name in part.head_parts],
        list_parts=[f"{part.name}/{name}" for part in extensions for name in part.list_parts],
    )
    return assets, environment


def _public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the filters of templates: the public functions of these modules, and three of the domain."""
    for module in (_cards, _commands, _entries, _facets, _filters, _install, _publishers, _readme_links):
        for name, value in vars(module).items():
            if callable(value) and not name.startswith("_") and getattr(value, "__module__", "") == module.__name__:
                yield name, value
    yield from ((function.__name__, function) for function in (listed_words, trust_words, without_filter))


def preload(mode: AccessMode, sign_in: str, extensions: tuple[Extension, ...], brand: Brand) -> None:
    """Load the texts and compile all templates, which a `Layout` with the same arguments then finds.

    Otherwise they are compiled when they are first used. It takes 0.3 seconds.
    """
    load(extensions, brand)
    _, environment = templates(mode != "off", mode == "public", sign_in, extensions, brand)
    for name in environment.list_templates(["html", "xml"]):
        environment.get_template(name)


def _parameters(request: Request) -> list[tuple[str, str]]:
    return parse_qsl(query(request).decode("latin-1"), keep_blank_values=True, max_num_fields=None)


def _languages(request: Request, current: str) -> list[Language]:
    """Return the language menu. It is empty in the response to a form, which cannot be loaded again."""
    if request.method == b"POST":
        return []
    # A key that was sent in the URL by mistake is not written into links.
    others = [(without_keys(name), without_keys(value)) for name, value in _parameters(request) if name != "lang"]
    return [
        # A relative reference keeps the path.
        Language(tag, name, "?" + urlencode([*others, ("lang", tag)]), tag == current)
        for tag, name in LANGUAGES.items()
    ]
