"""Entries on pages in full: sanitized and bounded values, because entries may hold anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ...domain.entries import Entry
from ...domain.licenses import LICENSES, OTHER, UNKNOWN
from ...domain.views import Detail
from ._filters import caution, link, plain

MAX_TARGETS = 5
"""Maximum number of packages, and of remotes, on the page."""

MAX_TAGS = 20
"""Maximum number of tags on the page."""

PACKAGE_NAMES = {"npm": "npm", "pypi": "PyPI", "oci": "OCI", "nuget": "NuGet", "mcpb": "MCPB", "cargo": "Cargo"}
"""Display names of package types."""

_TRANSPORTS = {"stdio": "stdio", "streamable-http": "HTTP", "sse": "SSE"}
"""Display names of transports (MCP 2025-11-25, Transports; SSE of 2024-11-05)."""


_LICENSES = {
    **{"apache-2.0": "Apache-2.0", "unlicense": "Unlicense"},
    **{"bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause"},
}
"""SPDX identifiers of licences whose identifier is not in capital letters."""

_NO_VERSION = "0.0.0"
"""The version that lists of servers give to entries without one."""


def license_name(text: str) -> str:
    """Return the SPDX identifier of a licence in the usual case, any other text unchanged."""
    known = text.casefold()
    return _LICENSES.get(known, known.upper()) if known in LICENSES and known != OTHER else text


def version_name(version: str, size: int) -> str:
    """Return a version of at most `size` characters, an empty text for the filler of entries without a version."""
    return "" if version == _NO_VERSION else plain(version, size)


def fact_marks(auth: str, runs: Iterable[str]) -> Sequence[str]:
    """Return the keys of the texts about a secret and about where a server runs, without those that are unknown."""
    return [*(f"auth_{each}" for each in (auth,) if each != UNKNOWN), *(f"runs_{each}" for each in runs)]


def transports(kinds: Iterable[str]) -> Sequence[str]:
    """Return the display names of the known transports in `kinds`, without duplicates."""
    return list(dict.fromkeys(_TRANSPORTS[kind] for kind in kinds if kind in _TRANSPORTS))


@frozen
class Target:
    """A package or remote: its type, its name or address, and its `url` if it can be a link.

    `caution` is the reason to check the host of the address, see `_filters.caution`.
    """

    kind: str
    name: str
    url: str
    caution: str


@frozen
class EntryView:
    """An entry as sanitized text. Long texts and lists are truncated."""

    mcp_id: str
    name: str
    server_name: str
    version: str
    brief: str
    description: str
    tags: Sequence[str]
    official: bool
    transports: Sequence[str]
    marks: Sequence[str]
    status: str
    status_message: str
    license: str
    stars: int | None
    website: str
    repository: str
    published: str
    updated: str
    packages: Sequence[Target]
    remotes: Sequence[Target]
    more_targets: int


def entry_view(detail: Detail, language: str) -> EntryView:
    """Return the values of an entry's page in `language`."""
    repository = link((detail.repository or {}).get("url", ""))
    website = link(detail.website_url)
    brief = plain(detail.descriptions.get(language) or detail.brief, 400)
    description = plain(detail.long_description, 2_000)
    return EntryView(
        mcp_id=detail.mcp_id,
        name=plain(detail.name, 100) or detail.mcp_id,
        server_name=plain(detail.server_name, 200),
        version=version_name(detail.version, 60),
        brief=brief,
        description="" if description == brief else description,
        tags=list(dict.fromkeys(plain(tag, 40) for tag in (*detail.tags, *detail.categories)[:MAX_TAGS])),
        official=detail.official,
        transports=transports(Entry(detail.server).transports),
        marks=fact_marks(detail.auth, detail.runs),
        status=plain(detail.status, 30),
        status_message=plain(detail.status_message, 500),
        license=license_name(plain(detail.license, 60)),
        stars=detail.stars,
        website="" if website == repository else website,
        repository=repository,
        published=plain(detail.published_at or "", 11)[:10],
        updated=plain(detail.updated_at or "", 11)[:10],
        packages=[_package(each) for each in detail.packages[:MAX_TARGETS]],
        remotes=[_remote(each) for each in detail.remotes[:MAX_TARGETS]],
        more_targets=sum(max(0, len(targets) - MAX_TARGETS) for targets in (detail.packages, detail.remotes)),
    )


def _package(package: Mapping[str, Any]) -> Target:
    name = plain(_text(package.get("identifier")), 150)
    version = plain(_text(package.get("version")), 40)
    url = link(package.get("identifier"))
    label = plain(url, 150) if url else name
    kind = plain(_text(package.get("registryType")), 20)
    return Target(PACKAGE_NAMES.get(kind, kind), f"{label} {version}".strip(), url, caution(url))


def _remote(remote: Mapping[str, Any]) -> Target:
    # The URL of a server is not a web page, so it is not a link.
    url = _text(remote.get("url"))
    return Target(plain(_text(remote.get("type")), 20), plain(link(url) or url, 300), "", caution(url))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
