"""Form parsing, size limits and protection against cross-site request forgery."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from ...domain.errors import BadInput, Forbidden
from ...http import Request
from ...http.headers import value as header
from ._sessions import Session

MAX_FORM = 8 * 1024
"""Maximum size of a form in bytes."""

MAX_FIELDS = 20
"""Maximum number of fields of a form."""

CSRF = "csrf"
"""Name of the field that holds the CSRF token."""

# Browsers read a backslash as a slash, drop tabs and line breaks, and read a host after two leading slashes.
_LOCAL_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*")


def fields(request: Request, session: Session | None) -> Mapping[str, str]:
    """Return the fields of a form.

    Raises Forbidden if the form comes from another site or its CSRF token is not that of `session`, and BadInput if
    the body is not a valid form.
    """
    _check_same_site(request)
    form = _read(request)
    if session is None or not session.has_csrf(form.get(CSRF, "")):
        raise Forbidden("This form has expired. Reload the page and try again.", code="form_foreign")
    return form


def local_path(path: str, default: str) -> str:
    """Return `path` if it is a path of this site, else `default`. This prevents open redirects."""
    return path if len(path) <= MAX_FORM and _LOCAL_PATH.fullmatch(path) else default


def _check_same_site(request: Request) -> None:
    """Raise Forbidden for a form of another origin, including origins that may call the API (Fetch, section 3.2)."""
    origin, site = header(request, "Origin"), header(request, "Sec-Fetch-Site")
    host = (header(request, "Host") or "").lower()
    foreign = origin is not None and origin.partition("://")[2].lower() != host
    if foreign or site in ("cross-site", "same-site"):
        raise Forbidden("Forms are accepted only from pages of this server.", code="form_foreign")


def _read(request: Request) -> dict[str, str]:
    media_type = (header(request, "Content-Type") or "").partition(";")[0].strip().lower()
    body = request.body
    if media_type != "application/x-www-form-urlencoded" or len(body) > MAX_FORM:
        raise BadInput(
            f"The body must be a form (application/x-www-form-urlencoded) of at most {MAX_FORM:,} bytes.",
            code="form_wrong",
        )
    try:
        return dict(parse_qsl(body.decode("ascii"), True, errors="strict", max_num_fields=MAX_FIELDS))
    except ValueError:
        raise BadInput(f"The form must be UTF-8 and have at most {MAX_FIELDS} fields.", code="form_wrong") from None
