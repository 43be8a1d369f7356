"""Servers at a URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain, zip_longest
from typing import Any

from ..texts import hosts
from ._data import words
from ._notices import Notice, Unusable, warning
from ._server_config import INPUT, Input, Inputs, ServerConfig, Template, as_text, display, flat, literal, mappings

REMOTE_TYPES = ("streamable-http", "sse")

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
"""The name of a header (RFC 9110, section 5.6.2)."""

_RESERVED = words("reserved_headers")

_URL = re.compile(
    rf"(?P<scheme>https?)://(?P<host>[^\s/?#\\@:\[\]]+|\[[^\s/?#\\@\[\]]+\])"
    rf"(?::(?P<port>[0-9]{{1,5}}|{INPUT}))?(?P<rest>(?:[/?#][^\s\\<>\"]*)?)",
    re.IGNORECASE,
)
"""An absolute URL without user information, which can be mistaken for the host."""


def remote_config(remote: Mapping[str, Any]) -> ServerConfig:
    """Return the server at a remote, or at a package's own transport. Raises Unusable."""
    kind = as_text(remote.get("type"))
    if kind not in REMOTE_TYPES:
        raise Unusable("kind", kind) if kind else Unusable("untyped", as_text(remote.get("url")))
    inputs = Inputs()
    url, warnings = _checked(inputs.filled(as_text(remote.get("url")), remote))
    headers = {}
    for spec in mappings(remote.get("headers")):
        name = as_text(spec.get("name"))
        if not _TOKEN.fullmatch(name) or name.lower() in _RESERVED or name.lower().startswith(("proxy-", "sec-")):
            raise Unusable("header_name", name)
        if value := inputs.text(spec, name):
            headers[literal(name)] = value
    return ServerConfig(kind, display(url), inputs.all, url=url, env_or_headers=headers, warnings=warnings)


def _checked(url: Template) -> tuple[Template, list[Notice]]:
    """Return `url` with its host in ASCII, and warnings about it. Raises Unusable."""
    whole = flat(url)
    parts = _URL.fullmatch(whole)
    port = parts["port"] if parts else None
    if not parts or (port and port != INPUT and not 0 < int(port) < 65_536):
        raise Unusable("url", display(url))
    host, warnings = parts["host"], []
    if parts["scheme"].lower() == "http":
        warnings.append(warning("unencrypted"))
    if host == INPUT:
        return url, warnings
    read = _read(host, display(url))
    if read.international:
        if INPUT in host:
            raise Unusable("url", display(url))
        warnings.append(warning("international", read.name))
    if read.scope == "private":
        warnings.append(warning("private_address", host.replace(INPUT, "…")))
    if INPUT not in host:
        host = read.name
    written = f"{parts['scheme'].lower()}://{host}{whole[parts.end('host') :]}"
    return _refilled(written, url), warnings


def _read(host: str, url: str) -> hosts.Host:
    # A name with an input must not be local, whether the input is a word or a number.
    try:
        known = [hosts.read(host.strip("[]").replace(INPUT, text)) for text in ("x", "1")]
    except ValueError:
        raise Unusable("url", url) from None
    if any(reading.scope == "local" for reading in known):
        raise Unusable("address", url)
    return max(known, key=lambda reading: reading.scope == "private")


def _refilled(written: str, text: Template) -> Template:
    """Return `written` with the inputs of `text`, in order, in place of each INPUT."""
    inputs = [part for part in text if isinstance(part, Input)]
    parts = chain.from_iterable(zip_longest(written.split(INPUT), inputs, fillvalue=""))
    return tuple(part for part in parts if part)
