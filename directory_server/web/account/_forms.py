"""What forms send: read within bounds, and only where one of our own pages sent it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from ...domain.errors import BadInput, Forbidden
from ...http import Request
from ...http.headers import value as header
from ._session import Visitor

MAX_FORM = 8 * 1024
"""Bytes of a form."""

MAX_FIELDS = 20
"""Fields of a form."""

CSRF = "csrf"
"""The field of what binds a form to its visitor."""

# Browsers take a backslash for a slash, drop tabs and line breaks, and read what begins with two slashes as a host.
_SAME_SITE = re.compile(r"/(?!/)[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*")


def fields(request: Request, visitor: Visitor | None) -> Mapping[str, str]:
    """Return the fields of a form.

    Raises Forbidden where it was not sent by a page that was made for `visitor`, and BadInput for what is no form.
    """
    _check_origin(request)
    sent = _read(request)
    if visitor is None or not visitor.sent(sent.get(CSRF, "")):
        raise Forbidden(
            "This form was not made for you, or is too old. Go back, load the page anew and send it again.",
            code="form_foreign",
        )
    return sent


def local(path: str, default: str) -> str:
    """Return `path` if it leads to a page of this site, else `default`: no link of ours leads away."""
    return path if len(path) <= MAX_FORM and _SAME_SITE.fullmatch(path) else default


def _check_origin(request: Request) -> None:
    """Raise Forbidden for a page of another origin, one that may call the API too (Fetch, section 3.2)."""
    origin, site = header(request, "Origin"), header(request, "Sec-Fetch-Site")
    host = (header(request, "Host") or "").lower()
    foreign = origin is not None and origin.partition("://")[2].lower() != host
    if foreign or site in ("cross-site", "same-site"):
        raise Forbidden("Forms are taken from pages of this server alone.", code="form_foreign")


def _read(request: Request) -> dict[str, str]:
    kind = (header(request, "Content-Type") or "").partition(";")[0].strip().lower()
    body = request.content.read(MAX_FORM + 1)
    if kind != "application/x-www-form-urlencoded" or len(body) > MAX_FORM:
        raise BadInput(f"A form of at most {MAX_FORM:,} bytes is wanted, as browsers send it.", code="form_wrong")
    try:
        return dict(parse_qsl(body.decode("ascii"), True, errors="strict", max_num_fields=MAX_FIELDS))
    except ValueError:
        raise BadInput(f"The form is not in UTF-8, or has more than {MAX_FIELDS} fields.", code="form_wrong") from None
