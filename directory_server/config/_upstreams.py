"""Settings of upstreams, the MCP endpoint and the registry API."""

from __future__ import annotations

import re
from typing import Any, Literal
from urllib.parse import urlsplit

from attrs import frozen

from ._types import Bytes, Seconds
from ._validators import (
    AtLeast,
    each_matches,
    fraction,
    name_patterns,
    networks,
    setting,
    source_name,
    url_or_path,
)

OFFICIAL_REGISTRY = "https://registry.modelcontextprotocol.io"


def upstream_of_text(text: str) -> dict[str, object]:
    """Return the table of an upstream from its URL, or from "official" for the official registry.

    The name is that of the host, or of the file. Raises ValueError.
    """
    if text == "official":
        return {"name": "official", "url": OFFICIAL_REGISTRY}
    try:
        url_or_path(None, None, text)
    except ValueError as error:
        raise ValueError(f"each {error}, or official; separate them with spaces") from None
    name = (urlsplit(text).hostname or text.rpartition("/")[2]).lower()
    return {"name": re.sub(r"[^a-z0-9._-]+", "-", name).lstrip("._-")[:40], "url": text}


def unique_names(_: object, __: object, upstreams: tuple[Any, ...]) -> None:
    """Validate that each upstream has a URL and a name, and that no two names are the same."""
    names = [upstream.name for upstream in upstreams]
    if not all(upstream.name and upstream.url for upstream in upstreams) or len(set(names)) < len(names):
        raise ValueError("must each have a url and a name that no other has")
    if any(upstream.kind == "catalog" and "://" not in upstream.url for upstream in upstreams):
        raise ValueError("must have an http or https URL if their kind is catalog")


@frozen
class UpstreamConfig:
    """An upstream: a registry, a file of entries, or a catalog of ARD, that the directory follows."""

    name: str = setting("", "Name of the source; earlier upstreams take precedence.", source_name)
    url: str = setting("", "A registry with the official API, a file, or a catalog or its domain.", url_or_path)
    kind: Literal["registry", "catalog"] = setting(
        "registry",
        "A registry or file of entries, or a manifest of ARD.",
    )
    publishers: tuple[str, ...] = setting(
        (),
        "Other domains whose servers a catalog may list, such as *.example.org; *: all.",
        each_matches(r"[A-Za-z0-9.*-]+", "domains such as example.org or *.example.org"),
    )
    allowed_networks: tuple[str, ...] = setting(
        (),
        "Networks that are not public and may have documents of a catalog, such as 10.0.0.0/8.",
        networks,
    )
    interval: Seconds = setting(3600.0, "Time between two sync runs.", AtLeast(60))
    start: str = setting("", "URL or path of a dump with which the first sync run begins.", url_or_path)
    headers: tuple[str, ...] = setting(
        (),
        "Request headers, such as Authorization: env:TOKEN, or Authorization: file:/run/secrets/token.",
        each_matches(
            r"[A-Za-z0-9-]+: *(env:\w+|file:/[^\0]+)", "headers such as Authorization: env:TOKEN or file:/path"
        ),
        secret=True,
    )
    include: tuple[str, ...] = setting(
        (), "Patterns of names to import, * for any characters; if empty: all.", name_patterns
    )
    exclude: tuple[str, ...] = setting((), "Patterns of names to leave out.", name_patterns)
    floor: float = setting(
        0.85,
        "Share of the last full sync; if one finds fewer entries, nothing is removed.",
        fraction,
    )
    official: bool = setting(
        False,
        "Whether to believe this source, such as a mirror, about what the official registry lists; else "
        "publisher:verified and official:true find none of it.",
    )
    versions: Literal["latest", "all"] = setting("all", "Stored versions: the latest at each sync, or all.")
    max_entries: int = setting(100_000, "Limit of stored names, deleted ones included.", AtLeast(1))
    max_bytes: Bytes = setting(1_000_000_000, "Limit of the size of stored entries.", AtLeast(1_000_000))


@frozen
class RegistryConfig:
    """The registry API, which editors read."""

    access: Literal["off", "public", "secret-path", "key"] = setting(
        "off",
        "Who may read the registry API: nobody, everybody, clients with a path, with an API key.",
        daily=True,
    )
    listed: Literal["all", "curated"] = setting(
        "all", "Entries in the registry API: all, or local, published, pinned and allowed ones."
    )
    per_minute: int = setting(120, "Requests per minute and address without a key.", AtLeast(1))


@frozen
class McpConfig:
    """The MCP endpoint."""

    search_tools: bool = setting(False, "Whether to offer the tool search_tools, which searches the tools of servers.")
