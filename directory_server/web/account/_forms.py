"""Forms of the account pages: protection against cross-site request forgery, and paths in fields."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...domain.errors import Forbidden
from ...http import Request
from ..forms import MAX_FORM, same_site_fields
from ._sessions import Session

CSRF = "csrf"
"""Name of the field that holds the CSRF token."""

# Browsers read a backslash as a slash, drop tabs and line breaks, and read a host after two leading slashes.
_LOCAL_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*")


def fields(request: Request, session: Session | None) -> Mapping[str, str]:
    """Return the fields of a form.

    Raises Forbidden if the form comes from another site or its CSRF token is not that of `session`, and BadInput if
    the body is not a valid form.
    """
    form = same_site_fields(request)
    if session is None or not session.has_csrf(form.get(CSRF, "")):
        raise Forbidden("This form has expired. Reload the page and try again.", code="form_foreign")
    return form


def local_path(path: str, default: str) -> str:
    """Return `path` if it is a path of this site, else `default`. This prevents open redirects."""
    return path if len(path) <= MAX_FORM and _LOCAL_PATH.fullmatch(path) else default
