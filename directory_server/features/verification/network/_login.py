"""Kinds of login that remotes ask for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from ....domain.checks import LoginKind
from ....domain.errors import BadInput
from ....http_client import MAX_URL
from ....serialization import decode
from ....texts.sanitize import clean_line
from ._client import Client, target_of
from ._ending import NETWORK_ERRORS, Ended

MAX_METADATA = 65_536
"""Bytes of a metadata document."""

_METADATA_PARAMETER = re.compile(r'(?i)(?:^|[\s,])resource_metadata\s*=\s*(?:"([^"\\]{1,2000})"|([^\s,"]{1,2000}))')


async def kind_of_login(client: Client, url: str, challenge: str | None, headers_needed: bool) -> tuple[LoginKind, str]:
    """Return the kind of login of the remote at `url`, and the URL of its OAuth server, "" if it names none.

    `challenge` is the value of WWW-Authenticate. A remote has OAuth if the challenge names the metadata of the
    resource, or if the metadata is at a well-known place (RFC 9728; RFC 8414 for the oldest version of MCP with OAuth).
    """
    named = _METADATA_PARAMETER.search(challenge or "")
    if named:
        document = await _document(client, named[1] or named[2])
        return LoginKind.OAUTH, _authorization_server(document)
    for candidate in _well_known(url):
        document = await _document(client, candidate)
        if found := _authorization_server(document):
            return LoginKind.OAUTH, found
    if headers_needed or challenge is not None:
        return LoginKind.KEY, ""
    return LoginKind.UNKNOWN, ""


def _well_known(url: str) -> Iterator[str]:
    target = target_of(url)
    path = urlsplit(target.url).path.rstrip("/")
    if path:
        yield f"{target.origin}/.well-known/oauth-protected-resource{path}"
    yield f"{target.origin}/.well-known/oauth-protected-resource"
    yield f"{target.origin}/.well-known/oauth-authorization-server"


async def _document(client: Client, url: str) -> dict[str, Any]:
    """Return the JSON object at `url`, an empty one if there is none. The rules for addresses apply."""
    try:
        code, body = await client.get(url, max_bytes=MAX_METADATA, accept="application/json")
        value = decode(body) if code == 200 else {}
    except (*NETWORK_ERRORS, Ended, BadInput):
        return {}
    return value if isinstance(value, dict) else {}


def _authorization_server(document: dict[str, Any]) -> str:
    """Return the OAuth server that a metadata document names, "" if it names no http(s) URL."""
    servers = document.get("authorization_servers")
    named = servers[0] if isinstance(servers, list) and servers else document.get("issuer")
    if not isinstance(named, str) or len(named) > MAX_URL:
        return ""
    try:
        parts = urlsplit(named)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return ""
    return clean_line(named, MAX_URL) if valid and named.isprintable() and named.isascii() and " " not in named else ""
