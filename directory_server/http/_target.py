"""The target and the Host field of a request."""

from __future__ import annotations

import re
from functools import lru_cache

from .errors import HttpError

_ABSOLUTE = re.compile(rb"https?://([^/?#]*)([^#]*)", re.IGNORECASE)
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(?::[0-9]*)?")


def checked_target(method: bytes, target: bytes, headers: dict[bytes, list[bytes]], is_current: bool) -> bytes:
    """Return the target in origin form (RFC 9112, section 3.2); check it and the Host field.

    An absolute target replaces the Host field.
    """
    hosts = headers.get(b"host", [])
    if len(hosts) != 1 and (hosts or is_current):
        raise HttpError(400, "bad_request", f"The Host header must be sent exactly once, not {len(hosts)} times.")
    if target[:1] != b"/" and (absolute := _ABSOLUTE.fullmatch(target)):
        hosts = headers[b"host"] = [absolute[1]]
        target = absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]
    if hosts and not is_host(hosts[0]):
        raise HttpError(400, "bad_request", "The Host header must be a host, or a host and a port.")
    if target[:1] != b"/" and (method, target) != (b"OPTIONS", b"*"):
        raise HttpError(400, "bad_request", "The request target must begin with a slash.")
    if b"#" in target:
        raise HttpError(400, "bad_request", "The request target must not have a fragment (#).")
    return target


@lru_cache(64)
def is_host(value: bytes) -> bool:
    """Return whether `value` is a host, or a host and a port. An empty host is one (RFC 9110, section 7.2)."""
    return _HOST.fullmatch(value) is not None
