"""A server that is offered at a URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ._server import Server
from ._texts import Input, Inputs, Text, Unusable, literal, mappings, words

KINDS = ("streamable-http", "sse")

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
"""What a header may be called (RFC 9110, section 5.6.2)."""


def hosted(remote: Mapping[str, Any]) -> Server:
    """Return the server at a remote, or at a package's own transport. Raises Unusable."""
    kind = words(remote.get("type"))
    if kind not in KINDS:
        raise Unusable
    inputs = Inputs()
    url = inputs.filled(words(remote.get("url")), remote)
    _check(url)
    headers = {}
    for said in mappings(remote.get("headers")):
        name = words(said.get("name"))
        if not _TOKEN.fullmatch(name):
            raise Unusable
        if value := inputs.text(said, name):
            headers[literal(name)] = value
    return Server(kind, shown(url), inputs.all, url=url, given=headers)


def shown(text: Text) -> str:
    """Return a text for people who are to see that something is missing."""
    return "".join(f"<{part.name}>" if isinstance(part, Input) else part for part in text)


def _check(url: Text) -> None:
    try:
        parts = urlsplit("".join("x" if isinstance(part, Input) else part for part in url))
        port = parts.port
    except ValueError:
        raise Unusable from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise Unusable
    # A name before the host passes for the host: https://github.com@evil.example.
    if "@" in parts.netloc or re.search(r"[\s\\<>\"]", parts.geturl()):
        raise Unusable
