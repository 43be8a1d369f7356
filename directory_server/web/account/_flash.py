"""Flash: the confirmation or the error of a form, in a cookie for the page that the form redirects to."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode

from attrs import field, frozen

from ...http import Request
from ...http.headers import cookie

COOKIE = "flash"
"""Name of the cookie. It has no secret: passwords and keys are never in a flash."""

LIFETIME = 60
"""Seconds for which the browser stores the cookie. The page deletes it."""

_SHOWN_AGAIN = ("email", "label", "expires", "tools", "limit", "entry", "list", "reason")
"""Names of the values."""

_LONGEST = 300
"""Characters of a form value that is shown again. Fields are shorter, so a longer value is invalid anyway."""


@frozen
class Flash:
    """The `notice` or the `error` of a form, as a code, and the values of the form's fields that are shown again.

    `retry_after` is the seconds after which the form may be sent again, 0 for at once.
    """

    notice: str = ""
    error: str = ""
    retry_after: int = 0
    values: Mapping[str, str] = field(factory=dict)

    def set(self, request: Request, path: str, *, secure: bool) -> None:
        """Set the cookie, for the page at `path`."""
        values = {f"value.{name}": text[:_LONGEST] for name, text in self.values.items()}
        known = {"path": _mark(path), "notice": self.notice, "error": self.error, "retry": str(self.retry_after)}
        encoded = urlsafe_b64encode(urlencode({**known, **values}, errors="replace").encode()).rstrip(b"=")
        request.add_cookie(COOKIE, encoded.decode(), max_age=LIFETIME, secure=secure)


def read(request: Request) -> Flash | None:
    """Return the flash for the page of `request`, None if there is none or it is malformed."""
    encoded = cookie(request, COOKIE)
    if not encoded:
        return None
    try:
        decoded = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("ascii")
        fields = dict(parse_qsl(decoded, keep_blank_values=True, max_num_fields=10))
        retry_after = int(fields["retry"])
        values = {name: fields[f"value.{name}"] for name in _SHOWN_AGAIN if f"value.{name}" in fields}
        is_for_page = fields["path"] == _mark(request.path.decode("latin-1"))
        return Flash(fields["notice"], fields["error"], retry_after, values) if is_for_page else None
    except (KeyError, ValueError):
        return None


def delete(request: Request, *, secure: bool) -> None:
    """Delete the cookie."""
    request.add_cookie(COOKIE, "", max_age=0, secure=secure)


def _mark(path: str) -> str:
    """Return a digest of a path. The path of an invitation is secret."""
    return sha256(path.encode("utf-8", "replace")).hexdigest()[:16]
