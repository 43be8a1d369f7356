"""Forms: same-site check, size limits and parsing; query parameters of pages."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from ..domain.errors import BadInput, Forbidden
from ..http import Request
from ..http.headers import query
from ..http.headers import value as header

MAX_FORM = 8 * 1024
"""Maximum size of a form in bytes."""

MAX_FIELDS = 20
"""Maximum number of fields of a form."""


def same_site_fields(request: Request, max_bytes: int = MAX_FORM) -> dict[str, str]:
    """Return the fields of a form of at most `max_bytes` bytes.

    Raises Forbidden if the form comes from another site, and BadInput if the body is not a valid form.
    """
    _check_same_site(request)
    return _read(request, max_bytes)


def _check_same_site(request: Request) -> None:
    """Raise Forbidden for a form of another origin, including origins that may call the API (Fetch, section 3.2)."""
    origin, site = header(request, "Origin"), header(request, "Sec-Fetch-Site")
    host = (header(request, "Host") or "").lower()
    foreign = origin is not None and origin.partition("://")[2].lower() != host
    if foreign or site in ("cross-site", "same-site"):
        raise Forbidden("Forms are accepted only from pages of this server.", code="form_foreign")


def _read(request: Request, max_bytes: int) -> dict[str, str]:
    media_type = (header(request, "Content-Type") or "").partition(";")[0].strip().lower()
    body = request.body
    if media_type != "application/x-www-form-urlencoded" or len(body) > max_bytes:
        raise BadInput(
            f"The body must be a form (application/x-www-form-urlencoded) of at most {max_bytes:,} bytes.",
            code="form_wrong",
        )
    try:
        return dict(parse_qsl(body.decode("ascii"), True, errors="strict", max_num_fields=MAX_FIELDS))
    except ValueError:
        raise BadInput(f"The form must be UTF-8 and have at most {MAX_FIELDS} fields.", code="form_wrong") from None


def parameters(request: Request) -> Mapping[str, str]:
    """Return the query parameters. Unknown parameters and invalid UTF-8 are accepted, because links may be altered."""
    return dict(parse_qsl(query(request).decode("utf-8", "replace"), keep_blank_values=True))
